package frameworktest_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/manifolds"
)

// abscissae is sum_i (t_i - u_i)^2 + (a sin t_i + b - v_i)^2, a sine with errors
// in both variables: a and b are outer, the t_i inner. Each field breaks one
// law.
type abscissae struct {
	gradient, outer, coupling, inner float64 // relative errors
	skew, wrongCost                  float64
	touchesPoint, movesInner         bool
	forgets, free, lazy, worse       bool
	shape                            latent.ArrowheadShape // added to the true one
}

var places = [][2]float64{{0.1, 0.9}, {1.2, 2.1}, {2.3, 2.4}, {3.1, 0.8}, {4.4, -0.9}}

func (abscissae) Blocks() []framework.Block {
	return []framework.Block{
		{Name: "curve", Manifold: manifolds.Euclidean(2)},
		{Name: "t", Manifold: manifolds.Euclidean(1), Copies: len(places)},
	}
}

// row returns what the terms of row i are made of.
func (abscissae) row(x framework.Point, i int) (sin, cos, e, r float64) {
	t := x[1][i]
	sin, cos = math.Sin(t), math.Cos(t)
	return sin, cos, t - places[i][0], x[0][0]*sin + x[0][1] - places[i][1]
}

func (p abscissae) Evaluate(grad, x framework.Point) (cost float64, err error) {
	for k := range grad {
		clear(grad[k])
	}
	for i := range places {
		sin, cos, e, r := p.row(x, i)
		cost += e*e + r*r
		if grad != nil && grad[0] != nil {
			grad[0][0] += 2 * r * sin
			grad[0][1] += 2 * r
		}
		if grad != nil && grad[1] != nil {
			grad[1][i] = 2*e + 2*r*x[0][0]*cos
		}
	}
	return cost, nil
}

func (p abscissae) ArrowheadShape() (latent.ArrowheadShape, bool) {
	return latent.ArrowheadShape{Block: 1, Outer: 2 + p.shape.Outer, Rows: len(places) + p.shape.Rows, Dim: 1 + p.shape.Dim}, true
}

func (p abscissae) AssembleHessian(a *latent.Arrowhead, x framework.Point) (cost, passes float64, err error) {
	clear(a.OuterGrad)
	clear(a.A)
	for i := range places {
		sin, cos, e, r := p.row(x, i)
		w, slope := x[0][0], x[0][0]*cos
		cost += e*e + r*r
		a.OuterGrad[0] += 2 * r * sin
		a.OuterGrad[1] += 2 * r
		a.A[0] += 2 * sin * sin * (1 + p.outer)
		a.A[1] += 2*sin + p.skew
		a.A[2] += 2 * sin
		a.A[3] += 2
		a.B[i] = 2 * (slope*sin + r*cos) * (1 + p.coupling)
		a.B[len(places)+i] = 2 * slope
		a.InnerGrad[i] = 2 * (e + r*slope) * (1 + p.gradient)
		a.C[i] = 2 * (1 + slope*slope - r*w*sin) * (1 + p.inner)
	}
	if p.forgets {
		a.C[0] = math.NaN()
	}
	if p.touchesPoint {
		x[0][0]++
	}
	return cost * (1 + p.wrongCost), 2, nil
}

func (p abscissae) RetractOuter(dst, x framework.Point, v []float64) error {
	dst[0][0], dst[0][1] = x[0][0]+v[0], x[0][1]+v[1]
	if p.movesInner {
		copy(dst[1], x[1])
	}
	return nil
}

func (p abscissae) InnerStep(x framework.Point, other []float64) (cost, passes float64, err error) {
	value := func(i int, t float64) float64 {
		sin := math.Sin(t)
		e, r := t-places[i][0], x[0][0]*sin+x[0][1]-places[i][1]
		return e*e + r*r
	}
	for i := range places {
		t := x[1][i]
		if value(i, other[i]) < value(i, t) != p.worse {
			t = other[i]
		}
		sin, cos := math.Sin(t), math.Cos(t)
		slope, r := x[0][0]*cos, x[0][0]*sin+x[0][1]-places[i][1]
		step := -(t - places[i][0] + r*slope) / (1 + slope*slope + math.Abs(r*x[0][0]*sin))
		for !p.lazy && math.Abs(step) > 1e-12 && value(i, t+step) > value(i, t) {
			step /= 2
		}
		if x[1][i] = t; !p.lazy {
			x[1][i] += step
		}
		cost += value(i, x[1][i])
	}
	passes = 3
	if p.free {
		passes = 0
	}
	if p.wrongCost != 0 {
		cost *= 1 + p.wrongCost
	}
	return cost, passes, nil
}

func TestArrowheadLaws(t *testing.T) {
	o := frameworktest.ProblemOptions{Point: framework.Point{{1.3, 0.4}, {0.3, 1, 2, 3, 4}}, Seed: 1}
	frameworktest.TestProblem(t, "abscissae", abscissae{}, o)
	const (
		shape, written, move, innerStep = "arrowhead shape", "arrowhead written and symmetric", "arrowhead move", "inner step"
		outer, inner, joint             = "arrowhead slope, outer", "arrowhead slope, inner", "arrowhead slope, joint"
	)
	for name, c := range map[string]struct {
		p    abscissae
		laws []string
	}{
		"inner gradient off":   {abscissae{gradient: 0.01}, []string{inner, joint}},
		"outer Hessian off":    {abscissae{outer: 0.01}, []string{outer, joint}},
		"coupling off":         {abscissae{coupling: 0.1}, []string{joint}},
		"inner Hessian off":    {abscissae{inner: 0.01}, []string{inner, joint}},
		"not symmetric":        {abscissae{skew: 0.1}, []string{written}},
		"wrong cost":           {abscissae{wrongCost: 1e-6}, []string{written}},
		"changes the point":    {abscissae{touchesPoint: true}, []string{written}},
		"forgets an entry":     {abscissae{forgets: true}, []string{written}},
		"writes inner rows":    {abscissae{movesInner: true}, []string{move}},
		"steps for free":       {abscissae{free: true}, []string{innerStep}},
		"steps to worse":       {abscissae{worse: true, lazy: true}, []string{innerStep}},
		"takes no step":        {abscissae{lazy: true}, []string{innerStep}},
		"too many coordinates": {abscissae{shape: latent.ArrowheadShape{Outer: 1}}, []string{shape}},
		"too many rows":        {abscissae{shape: latent.ArrowheadShape{Rows: 1}}, []string{shape}},
		"rows too long":        {abscissae{shape: latent.ArrowheadShape{Dim: 1}}, []string{shape}},
	} {
		t.Run(name, func(t *testing.T) {
			r := frameworktest.CheckProblem(name, c.p, o)
			assert.Equal(t, c.laws, r.Broken(), "%v", r.Err())
		})
	}
}
