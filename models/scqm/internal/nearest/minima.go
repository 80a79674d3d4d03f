package nearest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

// minimum is a local minimum of the distance or loss of a row.
type minimum struct {
	tau   []float64
	value float64
}

// minima is a list of distinct minima. It reuses its memory.
type minima struct{ list []minimum }

// sameMinimum is the relative distance below which two minima count as the same. Minima of smoothed losses are less
// accurate than projections.
const sameMinimum = 1e-5

func same(a, b []float64) bool {
	return floats.Distance(a, b, 2) <= sameMinimum*max(floats.Norm(a, 2), floats.Norm(b, 2))
}

func (m *minima) reset() { m.list = m.list[:0] }

// enter adds a minimum unless it is listed or not finite.
func (m *minima) enter(tau []float64, value float64) {
	if dense.Finite(value) && !slices.ContainsFunc(m.list, func(a minimum) bool { return same(a.tau, tau) }) {
		m.add(tau, value)
	}
}

func (m *minima) add(tau []float64, value float64) {
	n := len(m.list)
	if m.list = slices.Grow(m.list, 1)[:n+1]; m.list[n].tau == nil {
		m.list[n].tau = make([]float64, len(tau))
	}
	copy(m.list[n].tau, tau)
	m.list[n].value = value
}

// best returns the lowest minima, at most the given number.
func (m *minima) best(most int) []minimum {
	slices.SortStableFunc(m.list, func(a, b minimum) int { return cmp.Compare(a.value, b.value) })
	return m.list[:min(most, len(m.list))]
}

// RowMinima describes the minima of a row.
type RowMinima struct {
	Residual      []float64 // at the best minimum
	MinEigenvalue float64   // of the Hessian at the best minimum
	Count         int       // of minima
	Second        float64   // distance from the second best, 0 if there is none
}

// Minima writes the coordinates of the best minimum of row x into tau, and describes all minima found. Errors name the
// row by its number i. A row takes several times the work of Project.
func (p *Projector) Minima(ctx context.Context, tau, x []float64, i int) (out RowMinima, err error) {
	f := p.f
	d := f.Latent
	data := rows.Data{N: 1, D: f.D, X: x}
	if err := p.Project(ctx, tau, data, i); err != nil {
		return out, err
	}
	hess, axes := make([]float64, d*d), make([]float64, d*d)
	e := RowEvaluation{Sheet: f, Loss: p.loss, Data: data, Tau: tau}
	if err := e.Run(ctx, p.w, RowResults{Hess: hess}, nil, 0, 1); err != nil {
		return out, err
	}
	out.Residual = slices.Clone(p.w.R[:f.D]) // where the evaluation left it
	dense.JacobiEigen(hess, axes, d)
	out.MinEigenvalue = hess[0]
	for j := range d {
		out.MinEigenvalue = min(out.MinEigenvalue, hess[j*d+j])
	}
	p.projection.Load(x)
	others, err := p.refine(ctx, data, p.projection.All())
	if err != nil {
		return out, err
	}
	out.Count = 1
	for _, other := range others {
		if same(other.tau, tau) {
			continue
		}
		if out.Count++; out.Count == 2 {
			out.Second = f.Gap(nil, nil, other.tau, x)
		}
	}
	if !dense.Finite(out.MinEigenvalue + out.Second + floats.Norm(out.Residual, 2)) {
		return out, fmt.Errorf("scqm: row %d is too far from the sheet for second derivatives: %w", i, rows.ErrInput)
	}
	return out, nil
}
