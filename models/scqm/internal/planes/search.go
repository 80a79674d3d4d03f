package planes

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

const (
	// rowsPerFeature is the least number of rows for each feature of the regression.
	rowsPerFeature = 3
	// The search has leastStarts starts and startsPerDimension more for each dimension of the Grassmannian, at most
	// planeStarts. All run for heatIterations, and the best finalists for up to planeIterations.
	leastStarts, startsPerDimension            = 4, 2
	planeStarts                                = 12
	heatIterations, finalists, planeIterations = 3, 5, 60
	planeTolerance                             = 1e-3
	// samePlane is the squared cosine between planes, relative to d, above which they count as equal.
	samePlane = 0.99
)

// run is the result of one start of the search: an m x d matrix with orthonormal columns.
type run struct {
	u             []float64
	cost, squares float64
}

// Search returns the planes whose regressions best predict the scores along m axes, by ascending sum of squares. The
// principal plane is always one of them. With too few rows it is the only one.
func (s *Scores) Search(ctx context.Context, m, d int, seed uint64) ([]*Plane, error) {
	m = min(m, s.k)
	principal := make([]float64, m*d)
	for j := range d {
		principal[j*d+j] = 1
	}
	r := newRegression(s.leading(m), s.shares, m, d)
	list := []run{{u: principal, squares: r.sumOfSquares(principal, s.scale)}}
	if len(s.few) >= rowsPerFeature*features(d) && m > d {
		list = append(list, s.otherPlanes(ctx, r, principal, seed)...)
	}
	var planes []*Plane
	for k, v := range list {
		if p := s.plane(v, m, d); p != nil && (k == 0 || !alike(list[:k], v.u, m, d)) {
			p.Principal = k == 0
			planes = append(planes, p)
		}
	}
	slices.SortStableFunc(planes, func(a, b *Plane) int { return cmp.Compare(a.Squares, b.Squares) })
	return planes, ctx.Err()
}

// otherPlanes minimises from the principal plane and from random planes. Of runs that reach the same plane, only the
// best continues.
func (s *Scores) otherPlanes(ctx context.Context, r *regression, principal []float64, seed uint64) []run {
	rng, all := rand.New(rand.NewPCG(seed, 1)), manifolds.NewGrassmann(r.m, r.d)
	var list []run
	for k := range min(planeStarts, leastStarts+startsPerDimension*r.d*(r.m-r.d)) {
		from := slices.Clone(principal)
		if k > 0 {
			all.Rand(from, rng)
		}
		list = append(list, r.run(ctx, from, heatIterations))
	}
	slices.SortStableFunc(list, func(a, b run) int { return cmp.Compare(a.cost, b.cost) })
	list = list[:min(len(list), finalists)]
	var ends []run
	for k, v := range list {
		if alike(list[:k], v.u, r.m, r.d) {
			continue
		}
		v = r.run(ctx, v.u, planeIterations)
		v.squares = r.sumOfSquares(v.u, s.scale)
		ends = append(ends, v)
	}
	return ends
}

// leading returns the first m whitened scores of the rows used for the search, which are listed in few.
func (s *Scores) leading(m int) []float64 {
	y := make([]float64, 0, len(s.few)*m)
	for _, i := range s.few {
		y = append(y, s.y[i*s.k:i*s.k+m]...)
	}
	return y
}

// run minimises from the plane from. If the minimisation fails it returns that plane.
func (s *regression) run(ctx context.Context, from []float64, iterations int) run {
	out, err := framework.Solve(ctx, s, framework.Point{from}, solvers.LBFGS{}, framework.Options{
		MaxIterations: iterations, Tolerance: planeTolerance, GradientUnit: 1, FirstOrder: true,
	})
	if err != nil || out == nil {
		cost, _ := s.Evaluate(nil, framework.Point{from})
		return run{u: from, cost: cost}
	}
	return run{u: out.Point[0], cost: out.Cost}
}

// alike reports whether a plane equals one of a list, up to samePlane.
func alike(list []run, u []float64, m, d int) bool {
	c := make([]float64, d*d)
	return slices.ContainsFunc(list, func(a run) bool {
		clear(c)
		dense.AddProduct(c, a.u, u, m, d, d)
		return floats.Dot(c, c) > samePlane*float64(d)
	})
}

// plane converts the span of t = U'y from whitened to unwhitened scores, dividing by scale. It returns nil if the
// span has rank below d.
func (s *Scores) plane(r run, m, d int) *Plane {
	p := &Plane{turn: make([]float64, s.k*s.k), d: d, Squares: r.squares}
	for j := range d {
		for i := range m {
			p.turn[j*s.k+i] = r.u[i*d+j] / s.scale[i]
		}
	}
	if !dense.OrthonormalizeRows(p.turn[:d*s.k], s.k) {
		return nil
	}
	dense.CompleteRows(p.turn, d, s.k)
	return p
}
