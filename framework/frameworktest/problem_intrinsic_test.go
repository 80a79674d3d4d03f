package frameworktest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

// intrinsicBall offers the second derivatives of quarticBall on the sphere, which may be
// off or not symmetric, or not projected on the tangent space, or forget that the sphere
// is curved; and as Gauss-Newton products what a factor makes of Euclidean ones.
type intrinsicBall struct {
	cost         quarticBall
	loose, flat  bool
	skewProducts float64
	framework.Problem
}

func newIntrinsicBall(p intrinsicBall) intrinsicBall {
	p.Problem = quarticBall{}
	return p
}

func (p intrinsicBall) IntrinsicHessianProduct(dst, x, v framework.Point) error {
	grad, h := framework.NewPoint(p.Blocks()), framework.NewPoint(p.Blocks())
	if _, err := p.Evaluate(grad, x); err != nil {
		return err
	}
	if err := p.cost.HessianProduct(h, x, v); err != nil {
		return err
	}
	if p.flat {
		grad.Zero()
	}
	if err := p.Blocks()[0].Hessian(dst[0], x[0], grad[0], h[0], v[0]); err != nil {
		return err
	}
	if p.loose {
		dst.AddScaled(1e-3, x)
	}
	return nil
}

func (p intrinsicBall) GaussNewtonProduct(dst, x, v framework.Point) error {
	return quarticBall{skew: p.skewProducts}.HessianProduct(dst, x, v)
}

func TestIntrinsicLaws(t *testing.T) {
	for name, c := range map[string]struct {
		p    intrinsicBall
		laws []string
	}{
		"sound":              {intrinsicBall{}, nil},
		"off by 0.1 percent": {intrinsicBall{cost: quarticBall{off: 1e-3}}, []string{"hessian slope"}},
		"not symmetric":      {intrinsicBall{cost: quarticBall{skew: 1e-3}}, []string{"hessian symmetric"}},
		"not tangent":        {intrinsicBall{loose: true}, []string{"hessian symmetric", "hessian slope"}},
		"not curved":         {intrinsicBall{flat: true}, []string{"hessian slope"}},
		"products askew":     {intrinsicBall{skewProducts: 1e-3}, []string{"gauss-newton symmetric"}},
	} {
		r := frameworktest.CheckProblem(name, newIntrinsicBall(c.p), frameworktest.ProblemOptions{Seed: 1})
		assert.Equal(t, c.laws, r.Broken(), "%s: %v", name, r.Err())
	}
}

// uncurved is intrinsicBall on a manifold that has no curve of second order to follow.
type uncurved struct{ intrinsicBall }

func (p uncurved) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: struct{ framework.Manifold }{manifolds.Sphere(4)}}}
}

func TestIntrinsicSlopeNeedsACurve(t *testing.T) {
	x := framework.Point{{0.5, 0.5, 0.5, 0.5}}
	p := uncurved{newIntrinsicBall(intrinsicBall{cost: quarticBall{off: 0.5}})}
	r := frameworktest.CheckProblem("uncurved", p, frameworktest.ProblemOptions{Seed: 1, Point: x})
	for _, v := range r.Verdicts {
		if v.Law == "hessian slope" {
			assert.Contains(t, v.Detail, "not checked")
			return
		}
	}
	t.Fatal("the law is missing")
}
