package arrowhead

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// quadraticInner takes Newton steps of a row's tau where the loss is a quadratic form
// of the residual, or a growing function of its norm. With y = W'(x - c), split
// into the part y_Q in the span of Q and the rest y_C, and e = z(tau) - y_Q, the
// form is
//
//	e'Me + 2 e'b + rest,
//
// where M = I, b = 0, rest = |y_C|^2 for a norm, and for the form with matrix N
// in the frame M = N_QQ, b = -N_QC y_C, rest = y_C'N_CC y_C. That is a problem
// in R^m: it no longer involves D.
type quadraticInner struct {
	*nearest.Quadratic
	f              *sheet.Sheet
	metric, linear []float64 // m x m, m
	diff           []float64 // D
}

func newQuadraticInner(f *sheet.Sheet) *quadraticInner {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &quadraticInner{Quadratic: nearest.NewQuadratic(f), f: f, metric: vec(f.M * f.M), linear: vec(f.M), diff: vec(f.D)}
}

// loadMetric takes M from the frame.
func (k *quadraticInner) loadMetric(a *Hessian) {
	k.Metric, k.Linear = nil, nil
	if a.structure != framework.StructureQuadratic {
		return
	}
	k.Metric, k.Linear = k.metric, k.linear
	m, D := k.f.M, k.f.D
	for i := range m {
		for j := range m {
			k.metric[i*m+j] = a.constant[i*D+j] / 2
		}
	}
}

// load sets y and b for row i of the data, x, and returns the rest.
func (k *quadraticInner) load(a *Hessian, x []float64, i int) (rest float64) {
	f := k.f
	if !a.wholeFrame() {
		floats.SubTo(k.diff, x, f.C)
		f.ToFrame(k.Y, k.diff)
		for j, v := range k.Y {
			floats.AddScaled(k.diff, -v, f.Axis(j))
		}
		return dense.Dot(k.diff, k.diff)
	}
	y := a.coords.y[i*f.D : (i+1)*f.D]
	a.Frame.toFrame(y, x)
	copy(k.Y, y)
	if k.Metric == nil {
		return 0
	}
	for r := range f.D { // the constant is twice N
		v := -dense.Dot(a.constant[r*f.D+f.M:(r+1)*f.D], y[f.M:]) / 2
		if r < f.M {
			k.linear[r] = v
		} else {
			rest -= v * y[r]
		}
	}
	return rest
}
