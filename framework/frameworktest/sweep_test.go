package frameworktest_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

// tug is |y - t|^2 + |y - 1|^2 / 4 + |t|^4 in the plane, with sweeps. Each field breaks one law.
type tug struct {
	off                     float64 // of the minimisers over y
	inner                   float64 // of the minimisers over t
	wrongCost, touchesPoint bool
	forgets                 bool
}

func (tug) Blocks() []framework.Block {
	return []framework.Block{
		{Name: "y", Manifold: manifolds.Euclidean(2)},
		{Name: "t", Manifold: manifolds.Euclidean(2)},
	}
}

func (tug) Evaluate(grad, x framework.Point) (float64, error) {
	y, t := x[0], x[1]
	s := t[0]*t[0] + t[1]*t[1]
	cost := s * s
	for i := range y {
		d, e := y[i]-t[i], y[i]-1
		cost += d*d + e*e/4
		if grad != nil && grad[0] != nil {
			grad[0][i] = 2*d + e/2
		}
		if grad != nil && grad[1] != nil {
			grad[1][i] = -2*d + 4*s*t[i]
		}
	}
	return cost, nil
}

func (tug) OuterBlocks() []int { return []int{0} }

// Sweep takes a Newton step in the length of t, which points along y.
func (p tug) Sweep(next, x framework.Point) (float64, error) {
	p.pull(next[1], x[0])
	cost, err := p.Evaluate(nil, framework.Point{x[0], next[1]})
	for i, t := range next[1] {
		next[0][i] = (t+0.25)/1.25 + p.off
	}
	if p.forgets {
		next[0][1] = math.NaN()
	}
	if p.wrongCost {
		cost *= 0.999
	}
	if p.touchesPoint {
		x[0][0] += 0.1
	}
	return cost, err
}

// pull writes the best t for y: 2 (t - y) + 4 |t|^2 t = 0.
func (p tug) pull(t, y []float64) {
	long := math.Hypot(y[0], y[1])
	r := math.Min(long, 1)
	for range 100 {
		r -= (r - long + 2*r*r*r) / (1 + 6*r*r)
	}
	for i := range t {
		t[i] = y[i]*r/long + p.inner
	}
}

func TestSweepLaws(t *testing.T) {
	o := frameworktest.ProblemOptions{Point: framework.Point{{2, -3}, {0.5, 1}}}
	frameworktest.TestProblem(t, "tug", tug{}, o)
	const sweep, descends = "sweep", "sweeps descend to a stationary point"
	for name, c := range map[string]struct {
		p    tug
		laws []string
	}{
		"wrong cost":          {tug{wrongCost: true}, []string{sweep}},
		"changes its input":   {tug{touchesPoint: true}, []string{sweep}},
		"forgets an entry":    {tug{forgets: true}, []string{sweep}},
		"outer minimiser off": {tug{off: 0.05}, []string{descends}},
		"inner minimiser off": {tug{inner: 0.05}, []string{descends}},
	} {
		t.Run(name, func(t *testing.T) {
			broken := frameworktest.CheckProblem(name, c.p, o).Broken()
			for _, law := range c.laws {
				assert.Contains(t, broken, law)
			}
		})
	}
}
