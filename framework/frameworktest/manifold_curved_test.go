package frameworktest_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

var (
	spd    = manifolds.NewSPD(4)
	planes = manifolds.NewGrassmann(6, 2)
)

// curved is a manifold with a metric of its own and nothing else.
type curved struct {
	framework.Manifold
	framework.Metric
	framework.Rander
}

func spdOnly() curved { return curved{spd, spd, spd} }

// straight has the retraction X + V, which leaves the cone for long steps.
type straight struct{ curved }

func (straight) Retract(dst, x, v []float64) error {
	y := floats.AddTo(make([]float64, len(x)), x, v)
	copy(dst, y)
	if math.IsInf(spd.Violation(y), 1) {
		return errRange
	}
	return nil
}

// ranked claims an order of its retraction.
type ranked struct {
	straight
	order int
}

func (m ranked) RetractionOrder() int { return m.order }

// converting has a conversion of Hessians.
type converting struct {
	framework.Manifold
	framework.Metric
	framework.Rander
	hess func(dst, x, g, h, v []float64)
}

func (m converting) RiemannianHessian(dst, x, g, h, v []float64) { m.hess(dst, x, g, h, v) }

// moving has a transport.
type moving struct {
	curved
	transport func(dst, x, y, v []float64)
}

func (m moving) Transport(dst, x, y, v []float64) { m.transport(dst, x, y, v) }

// shooting has an exponential map.
type shooting struct {
	curved
	exp func(dst, x, v []float64) error
}

func (m shooting) Exp(dst, x, v []float64) error { return m.exp(dst, x, v) }

// flatHessian forgets the curvature term.
func flatHessian(dst, x, _, h, _ []float64) { spd.Gradient(dst, x, h) }

func TestMetricWithoutExponential(t *testing.T) {
	frameworktest.TestManifold(t, "spd", spdOnly(), 3)
	frameworktest.TestManifold(t, "spd with straight steps", straight{spdOnly()}, 3)
	s := spdOnly()
	frameworktest.TestManifold(t, "spd with Hessian", converting{s, s, s, spd.RiemannianHessian}, 3)
	frameworktest.TestManifold(t, "straight steps with Hessian", converting{straight{s}, s, s, spd.RiemannianHessian}, 3)
}

// TestCurvedManifoldFindsBroken breaks manifolds with a metric in one way each.
func TestCurvedManifoldFindsBroken(t *testing.T) {
	s := spdOnly()
	for name, c := range map[string]struct {
		m      framework.Manifold
		broken []string
	}{
		"Hessian without curvature":                 {converting{s, s, s, flatHessian}, []string{"hessian"}},
		"Hessian without curvature, straight steps": {converting{straight{s}, s, s, flatHessian}, []string{"hessian"}},
		"claims order 2":                            {ranked{straight{s}, 2}, []string{"second order"}},
		"transport flips far away": {moving{s, func(dst, x, y, v []float64) {
			d := floats.Distance(x, y, 2)
			floats.ScaleTo(dst, 1-100*d*d, v)
		}}, []string{"transport length"}},
		"exponential is a retraction of second order": {shooting{s, spd.Retract}, []string{"geodesic"}},
		"exponential is straight":                     {shooting{curved{straight{s}, s, s}, straight{s}.Retract}, []string{"geodesic"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := frameworktest.CheckManifold(name, c.m, 3)
			assert.Equal(t, c.broken, report.Broken(), "%v", report.Err())
		})
	}
}

func TestOrderOneOfStraightSteps(t *testing.T) {
	frameworktest.TestManifold(t, "straight steps", ranked{straight{spdOnly()}, 1}, 3)
}

// measured is the sphere with a distance and a logarithm.
type measured struct {
	bare
	distance func(x, y []float64) (float64, error)
	log      func(dst, x, y []float64) error
}

func (m measured) Distance(x, y []float64) (float64, error) {
	if m.distance != nil {
		return m.distance(x, y)
	}
	return sphere.Distance(x, y)
}

func (m measured) Log(dst, x, y []float64) error {
	if m.log != nil {
		return m.log(dst, x, y)
	}
	return sphere.Log(dst, x, y)
}

func TestDistanceFindsBroken(t *testing.T) {
	frameworktest.TestManifold(t, "sphere", measured{bare: bare{Manifold: sphere}}, 1, []float64{0, 1, 0, 0})
	for name, c := range map[string]struct {
		distance func(x, y []float64) (float64, error)
		log      func(dst, x, y []float64) error
		broken   []string
	}{
		"not symmetric": {distance: func(x, y []float64) (float64, error) {
			d, err := sphere.Distance(x, y)
			return d * (1 + 0.001*math.Abs(x[0])), err
		}, broken: []string{"distance", "logarithm"}},
		"takes NaN": {distance: func(x, y []float64) (float64, error) {
			d, err := sphere.Distance(x, y)
			if err != nil {
				d = 1
			}
			return d, nil
		}, broken: []string{"distance"}},
		"the square": {distance: func(x, y []float64) (float64, error) {
			d, err := sphere.Distance(x, y)
			return d * d, err
		}, broken: []string{"distance", "distance of steps", "logarithm"}},
		"twice": {distance: func(x, y []float64) (float64, error) {
			d, err := sphere.Distance(x, y)
			return 2 * d, err
		}, broken: []string{"distance of steps", "logarithm"}},
		"logarithm of half": {log: func(dst, x, y []float64) error {
			err := sphere.Log(dst, x, y)
			floats.Scale(0.5, dst)
			return err
		}, broken: []string{"logarithm"}},
		"logarithm not tangent": {log: func(dst, x, y []float64) error {
			d := floats.SubTo(make([]float64, len(x)), y, x)
			if d[0] != d[0] || floats.HasNaN(d) {
				return errRange
			}
			copy(dst, d)
			return nil
		}, broken: []string{"logarithm"}},
		"logarithm takes NaN": {log: func(dst, x, y []float64) error {
			if sphere.Log(dst, x, y) != nil {
				clear(dst)
			}
			return nil
		}, broken: []string{"logarithm"}},
		"logarithm writes into y": {log: func(dst, x, y []float64) error {
			err := sphere.Log(dst, x, y)
			y[0] *= 2
			return err
		}, broken: []string{"logarithm", "inputs kept"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := measured{bare{Manifold: sphere}, c.distance, c.log}
			report := frameworktest.CheckManifold(name, m, 1, []float64{0.5, 0.5, -0.5, 0.5})
			assert.Equal(t, c.broken, report.Broken(), "%v", report.Err())
		})
	}
}

// subspaces is a Grassmann manifold as an outsider may write it: projections on
// vectors orthogonal to the basis, the QR retraction, which is of second order for
// subspaces, and no distance.
type subspaces struct{ n, p int }

func (m subspaces) stiefel() *manifolds.Stiefel        { return manifolds.NewStiefel(m.n, m.p) }
func (m subspaces) Size() int                          { return m.n * m.p }
func (m subspaces) Dim() int                           { return (m.n - m.p) * m.p }
func (m subspaces) Retract(dst, x, v []float64) error  { return m.stiefel().Retract(dst, x, v) }
func (m subspaces) Rand(dst []float64, rng *rand.Rand) { m.stiefel().Rand(dst, rng) }
func (m subspaces) Violation(x []float64) float64      { return m.stiefel().Violation(x) }
func (m subspaces) Restore(x []float64) error          { return m.stiefel().Restore(x) }
func (m subspaces) Same(d, x []float64, rng *rand.Rand) {
	manifolds.NewGrassmann(m.n, m.p).Same(d, x, rng)
}
func (m subspaces) Exp(dst, x, v []float64) error {
	return manifolds.NewGrassmann(m.n, m.p).Exp(dst, x, v)
}

func (m subspaces) Project(dst, x, v []float64) {
	a, b := mat.NewDense(m.n, m.p, x), mat.NewDense(m.n, m.p, v)
	var g, d mat.Dense
	g.Mul(a.T(), b)
	d.Mul(a, &g)
	d.Sub(b, &d)
	copy(dst, d.RawMatrix().Data)
}

func (m subspaces) RiemannianHessian(dst, x, g, h, v []float64) {
	a, b := mat.NewDense(m.n, m.p, x), mat.NewDense(m.n, m.p, g)
	var s, d mat.Dense
	s.Mul(a.T(), b)
	d.Mul(mat.NewDense(m.n, m.p, v), &s)
	d.Sub(mat.NewDense(m.n, m.p, h), &d)
	m.Project(dst, x, d.RawMatrix().Data)
}

func (subspaces) RetractionOrder() int { return 2 }

func TestQuotientIsAccepted(t *testing.T) {
	frameworktest.TestManifold(t, "subspaces", subspaces{6, 2}, 1)
	frameworktest.TestManifold(t, "grassmann", quotient{Grassmann: planes}, 1)
}

// traced is tr(X'AX) of planes of a manifold, with A = diag(0, 1, ..., 5).
type traced struct{ m framework.Manifold }

func (p traced) Blocks() []framework.Block { return []framework.Block{{Name: "X", Manifold: p.m}} }

func (p traced) Evaluate(grad, x framework.Point) (float64, error) {
	product := make([]float64, len(x[0]))
	each(product, func(i int) float64 { return float64(i/2) * x[0][i] })
	if grad != nil {
		floats.ScaleTo(grad[0], 2, product)
	}
	return floats.Dot(product, x[0]), nil
}

func (p traced) HessianProduct(dst, x, v framework.Point) error {
	_, err := p.Evaluate(dst, v)
	return err
}

func TestHessianOfAQuotientIsTriedOnACost(t *testing.T) {
	sound, flat := quotient{Grassmann: planes}, quotient{Grassmann: planes, hess: func(dst, x, _, h, _ []float64) { planes.Project(dst, x, h) }}
	o := frameworktest.ProblemOptions{Seed: 1}
	require.NoError(t, frameworktest.CheckProblem("sound", traced{sound}, o).Err())
	assert.Equal(t, []string{"hessian slope"}, frameworktest.CheckProblem("without curvature", traced{flat}, o).Broken())
}

// quotient spoils one method of planes.
type quotient struct {
	*manifolds.Grassmann
	same     func(dst, x []float64, rng *rand.Rand)
	exp      func(dst, x, v []float64) error
	hess     func(dst, x, g, h, v []float64)
	distance func(x, y []float64) (float64, error)
	retract  func(dst, x, v []float64) error
}

func (m quotient) Same(dst, x []float64, rng *rand.Rand) {
	if m.same == nil {
		m.same = planes.Same
	}
	m.same(dst, x, rng)
}

func (m quotient) Exp(dst, x, v []float64) error {
	if m.exp == nil {
		m.exp = planes.Exp
	}
	return m.exp(dst, x, v)
}

func (m quotient) RiemannianHessian(dst, x, g, h, v []float64) {
	if m.hess == nil {
		m.hess = planes.RiemannianHessian
	}
	m.hess(dst, x, g, h, v)
}

func (m quotient) Distance(x, y []float64) (float64, error) {
	if m.distance == nil {
		m.distance = planes.Distance
	}
	return m.distance(x, y)
}

func (m quotient) Retract(dst, x, v []float64) error {
	if m.retract == nil {
		m.retract = planes.Retract
	}
	return m.retract(dst, x, v)
}

func TestQuotientFindsBroken(t *testing.T) {
	var calls uint64
	for name, c := range map[string]struct {
		m      quotient
		broken []string
	}{
		"another point of the manifold": {
			quotient{same: func(dst, _ []float64, rng *rand.Rand) { planes.Rand(dst, rng) }},
			[]string{"representatives"},
		},
		"nothing but x":    {quotient{same: func(dst, x []float64, _ *rand.Rand) { copy(dst, x) }}, []string{"representatives"}},
		"off the manifold": {quotient{same: func(dst, x []float64, _ *rand.Rand) { floats.ScaleTo(dst, 2, x) }}, []string{"representatives"}},
		"from a clock": {quotient{same: func(dst, x []float64, _ *rand.Rand) {
			calls++
			planes.Same(dst, x, rand.New(rand.NewPCG(calls, 0)))
		}}, []string{"representatives"}},
		"exponential is the retraction": {quotient{exp: planes.Retract}, []string{"geodesic", "distance of steps", "logarithm"}},
		"distance in the surrounding space": {
			quotient{distance: func(x, y []float64) (float64, error) { return sphereless(x, y) }},
			[]string{"representatives", "distance of steps", "logarithm"},
		},
		"retraction by the first entries": {
			quotient{retract: func(dst, x, v []float64) error {
				w := floats.ScaleTo(make([]float64, len(v)), 1, v)
				size := floats.Dot(v, v)
				for i := range w {
					w[i] += x[0] * size * v[(i+1)%len(v)]
				}
				planes.Project(w, x, w)
				return planes.Retract(dst, x, w)
			}},
			[]string{"representatives agree"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.m.Grassmann = planes
			report := frameworktest.CheckManifold(name, c.m, 1)
			assert.Equal(t, c.broken, report.Broken(), "%v", report.Err())
		})
	}
}

// sphereless is the Euclidean distance with an error for NaN.
func sphereless(x, y []float64) (float64, error) {
	d := floats.Distance(x, y, 2)
	if math.IsNaN(d) {
		return 0, errRange
	}
	return d, nil
}

// karcher is the mean of squared distances from matrices, whose gradient takes a
// logarithm where the cost alone takes a distance: equal but for rounding.
type karcher [][]float64

func (karcher) Blocks() []framework.Block { return []framework.Block{{Name: "mean", Manifold: spd}} }

func (p karcher) Evaluate(grad, x framework.Point) (float64, error) {
	var cost float64
	log := make([]float64, 16)
	if grad != nil {
		clear(grad[0])
	}
	for _, y := range p {
		if grad == nil {
			d, err := spd.Distance(x[0], y)
			if err != nil {
				return 0, err
			}
			cost += d * d / 2
			continue
		}
		if err := spd.Log(log, x[0], y); err != nil {
			return 0, err
		}
		cost += spd.Inner(x[0], log, log) / 2
		// The Riemannian gradient is -log: the Euclidean one -x^-1 log x^-1.
		var inverse, product mat.Dense
		if err := inverse.Inverse(mat.NewDense(4, 4, x[0])); err != nil {
			return 0, err
		}
		product.Product(&inverse, mat.NewDense(4, 4, log), &inverse)
		floats.AddScaled(grad[0], -1, product.RawMatrix().Data)
	}
	return cost, nil
}

func TestKarcherCostIsAccepted(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	p := make(karcher, 3)
	for i := range p {
		p[i] = make([]float64, 16)
		spd.Rand(p[i], rng)
	}
	x := framework.NewPoint(p.Blocks())
	spd.Rand(x[0], rng)
	alone, err := p.Evaluate(nil, x)
	require.NoError(t, err)
	with, err := p.Evaluate(x.Clone(), x)
	require.NoError(t, err)
	require.NotEqual(t, alone, with, "the bits are equal, which shows nothing")
	frameworktest.TestProblem(t, "Karcher mean", p, frameworktest.ProblemOptions{Point: x, Seed: 1})
}
