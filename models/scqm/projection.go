package scqm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
)

// Projection holds rows moved onto a sheet, and how far each can be trusted.
type Projection struct {
	// Tau holds what Transform returns, n x d, and X what Project does, n x D.
	Tau, X []float64
	// Rows has one entry for each row.
	Rows []RowProjection
	// Certifies says that the loss is one for which RowProjection.Certified can
	// be told: a function of the norm, or lp with 1 < p <= 2.
	Certifies bool
}

// RowProjection describes the projection of one row.
type RowProjection struct {
	// Residual is the Euclidean distance of the row from its projection.
	Residual float64
	// Bend is the smallest eigenvalue of the second derivatives of the loss of
	// the row with respect to tau, at the projection. About 0 or below, small
	// moves of the row move its projection far. Where a loss has kinks, they may
	// hold the projection in place as well, which the number does not tell.
	Bend float64
	// Certified says that the residual is inside of the region in which the loss
	// is convex as a function of tau; see [Model.ProjectAll].
	Certified bool
	// Parts is the number of places found at which the loss has a minimum, and
	// Second the distance of the row from the second best of them, 0 where there
	// is only one.
	Parts  int
	Second float64
}

// ProjectAll is Project with a report on every row. The result for a row does
// not depend on the others.
//
// Certified follows Theorem 1 of the paper, corrected. With A0 the largest
// curvature of the sheet (max over unit w of |sum_k w_k A_k|_2), the least
// singular value of its Jacobian being 1, the second derivatives with respect to
// tau are positive where
//
//	|r| < 1/(2 A0)                                for functions of the norm,
//	| |r|^(p-1) |_2 < (p-1) rho / (2 A0)          for lp, 1 < p <= 2,
//
// with rho = max_k |r_k|^(p-2) at the row, the least of the factors |r_k|^(p-2)
// of the second derivatives. For functions of the norm that says more: as J'r = 0
// at a projection f(tau), every other point of the sheet has
//
//	|f(tau + t) - x|^2 >= |r|^2 + |t|^2 (1 - 2 A0 |r|),
//
// so that the projection is the nearest point of the whole sheet, and the only
// one.
//
// Parts are looked for from several starts, among which for d = 1 and functions
// of the norm all of them are.
func (m *Model) ProjectAll(ctx context.Context, x Data, threads int) (*Projection, error) {
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	held, err := m.reserveMap("project", x.N, m.D+2*m.Latent+projectionWords, threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	f := m.sheet()
	out := &Projection{Tau: make([]float64, x.N*f.d), Rows: make([]RowProjection, x.N)}
	judge := newConvexity(f, m.Loss)
	out.Certifies = judge.certifies()
	errs := make([]error, par.Shards(x.N))
	par.Do(par.Threads(threads), len(errs), func(_, shard int) {
		lo, hi := par.Bounds(x.N, shard)
		s := newSurvey(f, m.Loss, judge)
		for i := lo; i < hi && errs[shard] == nil; i++ {
			out.Rows[i], errs[shard] = s.row(ctx, out.Tau[i*f.d:(i+1)*f.d], x.Row(i), i)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	out.X, err = m.Reconstruct(ctx, out.Tau, threads)
	return out, err
}

// convexity tells where the loss of a row is convex as a function of tau.
type convexity struct {
	most  float64 // A0
	power float64 // of lp, 0 for functions of the norm, negative for other losses
}

func newConvexity(f *sheet, loss framework.Loss) convexity {
	c := convexity{most: f.formBound(), power: -1}
	if framework.StructureOf(loss) == framework.StructureRadial {
		c.power = 0
	} else if l, ok := loss.(framework.Parametric); ok && loss.Name() == "lp" {
		if p := l.Params()["p"]; p > 1 && p <= 2 {
			c.power = p
		}
	}
	return c
}

func (c convexity) certifies() bool { return c.power >= 0 }

// holds reports whether the region contains the residual r.
func (c convexity) holds(r []float64) bool {
	size := floats.Norm(r, math.Inf(1))
	switch {
	case c.power < 0:
		return false
	case c.most == 0 || size == 0:
		return true
	case c.power == 0:
		return 2*c.most*floats.Norm(r, 2) < 1
	}
	// In units of the largest entry, |r|^(p-1) / rho is that entry times this.
	var sum float64
	for _, v := range r {
		sum += math.Pow(math.Abs(v)/size, 2*(c.power-1))
	}
	return 2*c.most*size*math.Sqrt(sum) < c.power-1
}

// survey looks at rows of one sheet, from one goroutine.
type survey struct {
	*projector
	convexity convexity
	radial    bool
	ends      []end
	tau       []float64 // d
	hess      []float64 // d x d
	axes      []float64 // d x d
	aside     []float64 // d
}

// end is a minimum, with its loss or squared distance.
type end struct {
	tau   []float64
	value float64
}

func newSurvey(f *sheet, loss framework.Loss, c convexity) *survey {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &survey{
		projector: newProjector(f, loss), convexity: c, radial: framework.StructureOf(loss) == framework.StructureRadial,
		tau: vec(f.d), hess: vec(f.d * f.d), axes: vec(f.d * f.d), aside: vec(f.d),
	}
}

// row writes tau of the row and describes it. Errors call it number i.
func (s *survey) row(ctx context.Context, tau, x []float64, i int) (out RowProjection, err error) {
	f := s.f
	data := Data{N: 1, D: f.D, X: x}
	if err := s.project(ctx, tau, data, i); err != nil {
		return out, err
	}
	e := rowEvaluation{sheet: f, loss: s.loss, data: data, tau: tau}
	if err := e.run(ctx, s.w, rowResults{hess: s.hess}, nil, 0, 1); err != nil {
		return out, err
	}
	r := s.w.r[:f.D] // where the evaluation left the residual
	out.Residual, out.Certified = floats.Norm(r, 2), s.convexity.holds(r)
	out.Bend = s.least(s.hess)
	if err := s.look(ctx, tau, data); err != nil {
		return out, err
	}
	out.Parts = 1
	if rest := s.ends; len(rest) > 0 {
		out.Parts += len(rest)
		out.Second = s.distance(rest[0].tau, x)
	}
	if math.IsNaN(out.Bend+out.Second+out.Residual) || math.IsInf(out.Bend+out.Second+out.Residual, 0) {
		return out, fmt.Errorf("scqm: row %d is too far from the sheet for second derivatives: %w", i, ErrInput)
	}
	return out, nil
}

// least is the smallest eigenvalue of h, whose eigenvectors it leaves in axes.
func (s *survey) least(h []float64) float64 {
	d := s.f.d
	jacobiEigen(h, s.axes, d)
	at := 0
	for j := range d {
		if h[j*d+j] < h[at*d+at] {
			at = j
		}
	}
	copy(s.aside, s.axes[at*d:(at+1)*d])
	return h[at*d+at]
}

// distance is that of x from f(tau).
func (s *survey) distance(tau, x []float64) float64 {
	f := s.f
	z, phi, r := make([]float64, f.m), make([]float64, f.q), make([]float64, f.D)
	f.coordinates(z, phi, tau)
	f.residual(r, z, x)
	return floats.Norm(r, 2)
}

// look collects the minima other than tau in ends, the best one first.
func (s *survey) look(ctx context.Context, tau []float64, x Data) error {
	f := s.f
	s.ends = s.ends[:0]
	count := s.foot.find(x.X)
	if f.s == 0 {
		return nil
	}
	found := make([][]float64, 0, 3*maxSheets)
	for k := range count {
		found = s.slide(found, s.foot.minima[k])
	}
	for _, start := range found {
		copy(s.tau, start)
		var value float64
		if s.radial {
			value = s.foot.residual(start)
		} else {
			var err error
			if value, err = s.continuation(ctx, s.tau, x); err != nil {
				return err
			}
		}
		s.enter(tau, value)
	}
	slices.SortStableFunc(s.ends, func(a, b end) int {
		return int(math.Copysign(1, a.value-b.value))
	})
	return nil
}

// slide appends an end of the search for nearest points if it is a minimum, and
// else the minima on both sides of the saddle that it is.
func (s *survey) slide(found [][]float64, tau []float64) [][]float64 {
	p := s.foot
	p.residual(tau)
	p.f.weigh(p.w, p.e)
	p.f.jacobian(p.jac, tau)
	gram(p.h, p.jac, p.f.m, p.f.d, 1)
	p.f.addCurvature(p.h, p.w)
	if least := s.least(slices.Clone(p.h)); least > 0 {
		return append(found, slices.Clone(tau))
	}
	aside, size := slices.Clone(s.aside), math.Max(floats.Norm(tau, 2), floats.Norm(p.ab[:p.f.d], 2))
	for _, sign := range []float64{-1, 1} {
		start := slices.Clone(tau)
		floats.AddScaled(start, sign*(1e-3*size+math.SmallestNonzeroFloat64), aside)
		p.minimise(start, maxFootSteps, footPrecision)
		if (framework.Point{start}).Finite() {
			found = append(found, start)
		}
	}
	return found
}

// sameEnd is the relative distance below which two minima are one. Rounded losses
// find them to fewer digits than the nearest points.
const sameEnd = 1e-5

// enter adds s.tau to the ends unless it is there or is the projection.
func (s *survey) enter(projection []float64, value float64) {
	near := sameEnd * math.Max(floats.Norm(s.tau, 2), floats.Norm(projection, 2))
	if floats.Distance(s.tau, projection, 2) <= near {
		return
	}
	for _, e := range s.ends {
		if floats.Distance(s.tau, e.tau, 2) <= near {
			return
		}
	}
	s.ends = append(s.ends, end{slices.Clone(s.tau), value})
}
