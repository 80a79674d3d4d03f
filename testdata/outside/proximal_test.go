package outside

import (
	"math"
	"testing"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

// lasso is 3 |x - (3, 1/4, -2)|^2 / 2 + |x|_1, which is least at (8/3, 0, -5/3).
type lasso struct{}

func (lasso) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(3)}}
}

func (p lasso) Evaluate(grad, x framework.Point) (float64, error) {
	cost, _ := p.Smooth(x)
	for k, v := range x[0] {
		cost += math.Abs(v)
		if grad != nil && grad[0] != nil {
			grad[0][k] = 3 * (v - [3]float64{3, 0.25, -2}[k])
		}
	}
	return cost, nil
}

func (lasso) Smooth(x framework.Point) (float64, error) {
	u, v, w := x[0][0]-3, x[0][1]-0.25, x[0][2]+2
	return 1.5 * (u*u + v*v + w*w), nil
}

func (lasso) Prox(dst, x framework.Point, t float64) error {
	for k, v := range x[0] {
		dst[0][k] = math.Copysign(max(math.Abs(v)-t, 0), v)
	}
	return nil
}

// Stationarity is how far a step of length 1 goes.
func (p lasso) Stationarity(dst []float64, x framework.Point) error {
	y := framework.Point{make([]float64, 3)}
	p.Evaluate(y, x)
	y.Scale(-1)
	y.AddScaled(1, x)
	p.Prox(y, y, 1)
	y.AddScaled(-1, x)
	dst[0] = y.Norm()
	return nil
}

func TestProximal(t *testing.T) {
	frameworktest.TestSolver(t, Proximal{}, frameworktest.SolverOptions{Cases: []frameworktest.SolverCase{{
		Name: "lasso", New: func() framework.Problem { return lasso{} }, Start: framework.Point{{5, 5, 5}}, Best: 4.5 + 1./6 + 1.5/16, Tolerance: 1e-9,
	}}})
}
