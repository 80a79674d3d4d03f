package frameworktest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

// quarticBall is sum_i i x_i^4 on the sphere plus x_1 x_2, with second derivatives that
// may be off or not symmetric.
type quarticBall struct{ off, skew float64 }

func (quarticBall) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Sphere(4)}}
}

func (quarticBall) Evaluate(grad, x framework.Point) (float64, error) {
	cost := x[0][1] * x[0][2]
	for i, v := range x[0] {
		cost += float64(i) * v * v * v * v
	}
	if grad != nil {
		for i, v := range x[0] {
			grad[0][i] = 4 * float64(i) * v * v * v
		}
		grad[0][1] += x[0][2]
		grad[0][2] += x[0][1]
	}
	return cost, nil
}

func (p quarticBall) HessianProduct(dst, x, v framework.Point) error {
	for i, a := range x[0] {
		dst[0][i] = 12 * float64(i) * a * a * v[0][i] * (1 + p.off)
	}
	dst[0][1] += v[0][2] * (1 + p.skew)
	dst[0][2] += v[0][1] * (1 - p.skew)
	return nil
}

func TestHessianLaws(t *testing.T) {
	for name, c := range map[string]struct {
		p    quarticBall
		laws []string
	}{
		"sound":              {quarticBall{}, nil},
		"off by 0.1 percent": {quarticBall{off: 1e-3}, []string{"hessian slope"}},
		"not symmetric":      {quarticBall{skew: 1e-3}, []string{"hessian symmetric"}},
	} {
		r := frameworktest.CheckProblem(name, c.p, frameworktest.ProblemOptions{Seed: 1})
		assert.Equal(t, c.laws, r.Broken(), "%s: %v", name, r.Err())
	}
}
