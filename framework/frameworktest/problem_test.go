package frameworktest_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

// quartic is a problem on a sphere and three rows of the plane, with every
// capability. Each field breaks one law.
type quartic struct {
	gradient, rowGradient         float64 // relative errors
	touchesPoint                  bool
	forgets, coupled, ignoresList bool
	costWithGradient, staleResume bool
	negativeStationarity          bool

	at framework.Point
}

func (*quartic) Blocks() []framework.Block {
	return []framework.Block{
		{Name: "direction", Manifold: manifolds.Sphere(3)},
		{Name: "rows", Manifold: manifolds.Euclidean(2), Copies: 3},
	}
}

func (p *quartic) Evaluate(grad, x framework.Point) (float64, error) {
	if !p.staleResume || p.at == nil {
		p.at = x.Clone()
	}
	costs := make([]float64, 3)
	var g [2][]float64
	if grad != nil {
		g[0], g[1] = grad[0], grad[1]
	}
	if err := p.rows(costs, g[1], x, nil, p.gradient); err != nil {
		return 0, err
	}
	cost := costs[0] + costs[1] + costs[2]
	for i, v := range x[0] {
		a := float64(i + 1)
		cost += a * v * v * v * v
		if g[0] != nil && !(p.forgets && i == 2) {
			g[0][i] = 4 * a * v * v * v * (1 + p.gradient)
		}
	}
	if p.touchesPoint {
		x[0][0] = 0.5
	}
	if p.costWithGradient && grad != nil {
		cost *= 1 + 5e-13 // more than another order of operations gives
	}
	return cost, nil
}

func (p *quartic) Resume(grad framework.Point) error {
	_, err := p.Evaluate(grad, p.at)
	return err
}

func (*quartic) SeparableRows(k int) bool { return k == 1 }

func (p *quartic) EvaluateRows(costs, grad []float64, x framework.Point, _ int, list []int) error {
	if p.ignoresList {
		list = nil
	}
	return p.rows(costs, grad, x, list, p.rowGradient)
}

// rows has row i cost (u^2 + v)^2 + exp(i v / 4).
func (p *quartic) rows(costs, grad []float64, x framework.Point, list []int, off float64) error {
	if list == nil {
		list = []int{0, 1, 2}
	}
	for _, i := range list {
		u, v, a := x[1][2*i], x[1][2*i+1], float64(i)/4
		if p.coupled {
			u += x[1][0] * 0.1
		}
		s := u*u + v
		costs[i] = s*s + math.Exp(a*v)
		if grad != nil {
			grad[2*i] = 4 * s * u * (1 + off)
			grad[2*i+1] = (2*s + a*math.Exp(a*v)) * (1 + off)
		}
	}
	return nil
}

func (p *quartic) Stationarity(dst []float64, _ framework.Point) error {
	dst[0], dst[1] = 0.25, 1
	if p.negativeStationarity {
		dst[1] = -1
	}
	return nil
}

func TestProblemSuiteAcceptsASoundProblem(t *testing.T) {
	frameworktest.TestProblem(t, "quartic", &quartic{}, frameworktest.ProblemOptions{Seed: 1})
	for _, c := range frameworktest.SolverCases() {
		frameworktest.TestProblem(t, c.Name, c.New(), frameworktest.ProblemOptions{Seed: 1, Point: c.Start})
	}
}

func TestProblemSuiteFindsBrokenLaws(t *testing.T) {
	for name, c := range map[string]struct {
		p    quartic
		laws []string
	}{
		"gradient off by 1 percent": {quartic{gradient: 0.01},
			[]string{"gradient slope of direction", "gradient slope of rows", "row gradients of rows"}},
		"gradient off by 0.1 percent": {quartic{gradient: 1e-3},
			[]string{"gradient slope of direction", "gradient slope of rows", "row gradients of rows"}},
		"row gradient off":        {quartic{rowGradient: 0.01}, []string{"row gradients of rows"}},
		"gradient entry missing":  {quartic{forgets: true}, []string{"gradient slope of direction", "writes what is asked for", "resume"}},
		"cost depends on request": {quartic{costWithGradient: true}, []string{"same cost with gradient"}},
		"stale resume":            {quartic{staleResume: true}, []string{"resume"}},
		"writes rows not listed":  {quartic{ignoresList: true}, []string{"listed rows of rows"}},
		"negative stationarity":   {quartic{negativeStationarity: true}, []string{"stationarity"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := frameworktest.CheckProblem(name, &c.p, frameworktest.ProblemOptions{Seed: 1})
			assert.Equal(t, c.laws, r.Broken(), "%v", r.Err())
		})
	}
	for name, c := range map[string]struct {
		p   quartic
		law string
	}{
		"changes the point": {quartic{touchesPoint: true}, "inputs unchanged"},
		"rows coupled":      {quartic{coupled: true}, "row costs of rows"},
	} {
		t.Run(name, func(t *testing.T) {
			r := frameworktest.CheckProblem(name, &c.p, frameworktest.ProblemOptions{Seed: 1})
			assert.Contains(t, r.Broken(), c.law)
		})
	}
	t.Run("panic", func(t *testing.T) {
		r := frameworktest.CheckProblem("panic", panicking{}, frameworktest.ProblemOptions{})
		assert.Equal(t, []string{"blocks"}, r.Broken())
	})
}

type panicking struct{ framework.Problem }
