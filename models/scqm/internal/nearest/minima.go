package nearest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// minima finds the local minima of the loss of a row over tau. It is for one goroutine. A row takes several
// times the work of a [Projector].
type minima struct {
	*Projector
	radial bool
	others []minimum
	tau    []float64 // d
	hess   []float64 // d x d
	axes   []float64 // d x d
}

// minimum is a point with its loss or squared distance.
type minimum struct {
	tau   []float64
	value float64
}

// RowMinima describes the minima of a row.
type RowMinima struct {
	Residual      []float64 // at the best minimum; valid until the next row
	MinEigenvalue float64   // of the second derivatives there
	Count         int       // of minima
	Second        float64   // distance from the second best, 0 if there is none
}

func NewMinima(f *sheet.Sheet, loss framework.Loss) *minima {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &minima{
		Projector: NewProjector(f, loss), radial: rowloss.StructureOf(loss) == rowloss.StructureRadial,
		tau: vec(f.Latent), hess: vec(f.Latent * f.Latent), axes: vec(f.Latent * f.Latent),
	}
}

// Find writes tau of the best minimum of row x, which errors call row i.
func (s *minima) Find(ctx context.Context, tau, x []float64, i int) (out RowMinima, err error) {
	f := s.f
	data := rows.Data{N: 1, D: f.D, X: x}
	if err := s.Project(ctx, tau, data, i); err != nil {
		return out, err
	}
	e := RowEvaluation{Sheet: f, Loss: s.loss, Data: data, Tau: tau}
	if err := e.Run(ctx, s.w, RowResults{Hess: s.hess}, nil, 0, 1); err != nil {
		return out, err
	}
	out.Residual = append(out.Residual, s.w.R[:f.D]...) // where the evaluation left it
	out.MinEigenvalue = s.minEigenvalue(s.hess)
	if err := s.collect(ctx, tau, data); err != nil {
		return out, err
	}
	out.Count = 1
	if rest := s.others; len(rest) > 0 {
		out.Count += len(rest)
		out.Second = s.distance(rest[0].tau, x)
	}
	if !dense.Finite(out.MinEigenvalue + out.Second + floats.Norm(out.Residual, 2)) {
		return out, fmt.Errorf("scqm: row %d is too far from the sheet for second derivatives: %w", i, rows.ErrInput)
	}
	return out, nil
}

// minEigenvalue is the smallest eigenvalue of h, which it overwrites.
func (s *minima) minEigenvalue(h []float64) float64 {
	d := s.f.Latent
	dense.JacobiEigen(h, s.axes, d)
	least := h[0]
	for j := range d {
		least = min(least, h[j*d+j])
	}
	return least
}

// distance is that of x from f(tau).
func (s *minima) distance(tau, x []float64) float64 {
	f := s.f
	z, phi, r := make([]float64, f.M), make([]float64, f.Q), make([]float64, f.D)
	f.Coordinates(z, phi, tau)
	f.Residual(r, z, x)
	return floats.Norm(r, 2)
}

// collect lists the minima other than tau in others, the best first.
func (s *minima) collect(ctx context.Context, tau []float64, x rows.Data) error {
	f := s.f
	s.others = s.others[:0]
	count := s.projection.find(x.X)
	if f.S == 0 {
		return nil
	}
	for _, start := range s.projection.minima[:count] {
		s.projection.Value(start)
		s.projection.derivatives(start)
		if !(s.minEigenvalue(s.projection.h) > 0) {
			continue // a saddle, where a start was one by symmetry
		}
		copy(s.tau, start)
		var value float64
		if s.radial {
			value = s.projection.Value(start)
		} else {
			var err error
			if value, err = s.continuation(ctx, s.tau, x); err != nil {
				return err
			}
		}
		s.enter(tau, value)
	}
	slices.SortStableFunc(s.others, func(a, b minimum) int {
		return int(math.Copysign(1, a.value-b.value))
	})
	return nil
}

// sameMinimum is the relative distance below which two minima are the same. Minima of smoothed losses have
// fewer digits than projections.
const sameMinimum = 1e-5

// enter adds s.tau to the others unless it is listed or is the projection.
func (s *minima) enter(projection []float64, value float64) {
	near := sameMinimum * math.Max(floats.Norm(s.tau, 2), floats.Norm(projection, 2))
	if floats.Distance(s.tau, projection, 2) <= near {
		return
	}
	for _, e := range s.others {
		if floats.Distance(s.tau, e.tau, 2) <= near {
			return
		}
	}
	s.others = append(s.others, minimum{slices.Clone(s.tau), value})
}
