package frameworktest_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

// kinked is sum_i i |x_i - 1/2| + x_i^2 on the sphere of 4 coordinates and on two
// positive definite matrices of order 1, with a preconditioner and kinks that can be
// rounded. Each field breaks one law.
type kinked struct {
	off                                           float64 // relative error of the rounded gradient
	nothing, shifts, stays, smooth, moody         bool
	negative, skew, bent, forgets, aliased, stale bool

	eps   float64
	built framework.Point
}

func (*kinked) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Sphere(4)}, {Name: "sizes", Manifold: manifolds.NewSPD(1), Copies: 2}}
}

// abs is |r| or its rounded form, with its derivative.
func (p *kinked) abs(r float64) (value, slope float64) {
	if p.eps == 0 || p.nothing {
		return math.Abs(r), math.Copysign(1, r)
	}
	if p.shifts {
		return math.Abs(r) + p.eps, math.Copysign(1, r)
	}
	root := math.Hypot(r, p.eps)
	return root - p.eps, r / root * (1 + p.off)
}

func (p *kinked) Evaluate(grad, x framework.Point) (float64, error) {
	cost := 0.0
	for k, b := range x {
		for i, v := range b {
			w := float64(i + 1)
			value, slope := p.abs(v - 0.5)
			cost += w*value + v*v
			if grad != nil && grad[k] != nil {
				grad[k][i] = w*slope + 2*v
			}
		}
	}
	return cost, nil
}

func (p *kinked) SmoothingScale(framework.Point) (float64, error) { return 0.3, nil }

func (p *kinked) Smooth(eps float64) {
	if eps == 0 && p.stays {
		eps = 1e-3
	}
	p.eps = eps
}

func (p *kinked) Differentiable() bool { return p.smooth }

func (p *kinked) Refute(x framework.Point) (string, error) {
	if p.moody {
		x[0][0] += 1e-3
	}
	return "", nil
}

func (p *kinked) BuildPreconditioner(x framework.Point) (float64, error) {
	if p.built == nil || !p.stale {
		p.built = x.Clone()
	}
	return 1, nil
}

func (p *kinked) Precondition(dst, v framework.Point) {
	v2 := v
	if !p.aliased {
		v2 = v.Clone()
	}
	for k := range dst {
		for i := range dst[k] {
			dst[k][i] = v2[k][i] / (1 + float64(i) + p.built[k][i]*p.built[k][i])
			if p.negative && k == 1 {
				dst[k][i] *= -1
			}
			if p.bent {
				dst[k][i] *= 1 + 1e-3*math.Abs(v2[k][i])
			}
		}
	}
	dst[0][0] += 0.1 * v2[0][1]
	if !p.skew {
		dst[0][1] += 0.1 * v2[0][0]
	}
	if p.forgets {
		dst[0][3] = math.NaN()
	}
}

func TestCapabilityLaws(t *testing.T) {
	const built, linear, symmetric, positive = "preconditioner built", "preconditioner linear", "preconditioner symmetric", "preconditioner positive definite"
	const tends, undone, rounds, gradient = "smoothing tends to the cost", "smoothing undone", "smoothing rounds", "smoothed gradient"
	o := frameworktest.ProblemOptions{Point: framework.Point{{0.1, 0.7, 0.1, 0.7}, {1, 2}}}
	for name, c := range map[string]struct {
		p    kinked
		laws []string
	}{
		"sound":                {kinked{}, nil},
		"-v in a block":        {kinked{negative: true}, []string{positive}},
		"not symmetric":        {kinked{skew: true}, []string{symmetric}},
		"not linear":           {kinked{bent: true}, []string{linear, symmetric}},
		"forgets an entry":     {kinked{forgets: true}, []string{built}},
		"reads what it writes": {kinked{aliased: true}, []string{built}},
		"built once for all":   {kinked{stale: true}, nil}, // it is as good as any other
		"smooths nothing":      {kinked{nothing: true}, []string{tends, rounds}},
		"shifts":               {kinked{shifts: true}, []string{rounds}},
		"stays rounded":        {kinked{stays: true}, []string{undone}},
		"refutes and moves":    {kinked{moody: true}, []string{"refutation"}},
		"called smooth":        {kinked{smooth: true}, []string{rounds}},
		"gradient off":         {kinked{off: 1e-3}, []string{gradient}},
	} {
		for seed := range uint64(4) {
			p := c.p
			o.Seed = seed
			r := frameworktest.CheckProblem(name, &p, o)
			assert.Equal(t, c.laws, r.Broken(), "%s: %v", name, r.Err())
		}
	}
}

// withoutCurvature is the sphere without the curvature term of its Hessian.
type withoutCurvature struct{ manifolds.Sphere }

func (m withoutCurvature) RiemannianHessian(dst, x, _, h, _ []float64) { m.Project(dst, x, h) }

// withoutMetricCurvature is the same without the curvature of the metric.
type withoutMetricCurvature struct{ *manifolds.SPD }

func (m withoutMetricCurvature) RiemannianHessian(dst, x, _, h, _ []float64) { m.Gradient(dst, x, h) }

// firstOrder has no geodesics and a retraction of unknown order.
type firstOrder struct {
	framework.Manifold
	framework.HessianConverter
}

// squares is sum_i i x_i^2 on any manifold.
type squares struct{ framework.Manifold }

func (p squares) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: p.Manifold}}
}

func (squares) Evaluate(grad, x framework.Point) (cost float64, err error) {
	for i, v := range x[0] {
		cost += float64(i+1) * v * v
		if grad != nil {
			grad[0][i] = 2 * float64(i+1) * v
		}
	}
	return cost, nil
}

func (squares) HessianProduct(dst, _, v framework.Point) error {
	for i, u := range v[0] {
		dst[0][i] = 2 * float64(i+1) * u
	}
	return nil
}

func TestRiemannianHessianLaws(t *testing.T) {
	s := manifolds.Sphere(4)
	x := framework.Point{{0.5, 0.5, 0.5, 0.5}}
	one := framework.Point{{2}}
	for name, c := range map[string]struct {
		m      framework.Manifold
		x      framework.Point
		broken []string
		detail string
	}{
		"sphere":                {s, x, nil, "holds"},
		"metric":                {manifolds.NewSPD(1), one, nil, "holds"},
		"no curvature":          {withoutCurvature{s}, x, []string{"hessian slope"}, "slope 2"},
		"no curvature, metric":  {withoutMetricCurvature{manifolds.NewSPD(1)}, one, []string{"hessian slope"}, "slope 2"},
		"no unaccelerated move": {firstOrder{s, s}, x, nil, "not checked: a manifold has neither"},
		"no conversion":         {struct{ framework.Manifold }{s}, x, nil, "not checked: a manifold does not convert"},
	} {
		for seed := range uint64(4) {
			r := frameworktest.CheckProblem(name, squares{c.m}, frameworktest.ProblemOptions{Point: c.x, Seed: seed})
			assert.Equal(t, c.broken, r.Broken(), "%s: %v", name, r.Err())
			details := ""
			for _, v := range r.Verdicts {
				if v.Law == "hessian slope" || v.Law == "hessian" {
					details = v.Detail
				}
			}
			assert.Contains(t, details, c.detail, name)
		}
	}
}
