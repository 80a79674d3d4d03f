package arrowhead

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
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
// in R^m: it no longer involves D. A step takes 2Dm operations for y, D^2 for y and
// b where the form has a matrix, and those of [nearest.Quadratic].
type quadraticInner struct {
	*nearest.Quadratic
	f              *sheet.Sheet
	metric, linear []float64 // m x m, m
	diff           []float64 // D
	form           []float64 // n: the forms of a batch

	// Set by prepare.
	data   *rows.Data
	radial framework.Radial // nil for quadratic losses
	twice  []float64        // D x D: 2 W'MW; nil for radial losses
	frame  *Frame
	coords []float64 // N x D: W'(x - c), to be written; nil where the span of Q is enough
}

func newQuadraticInner(f *sheet.Sheet, n int) *quadraticInner {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &quadraticInner{
		Quadratic: nearest.NewQuadratic(f), f: f, metric: vec(f.M * f.M), linear: vec(f.M), diff: vec(f.D), form: vec(n),
	}
}

// prepare also computes M in the frame.
func (k *quadraticInner) prepare(a *Hessian) {
	k.data, k.frame, k.coords = a.o.Data(), a.Frame, nil
	if a.wholeFrame() {
		k.coords = a.coords.y
	}
	if a.structure != rowloss.StructureQuadratic {
		k.radial, k.twice, k.Metric, k.Linear = a.o.Loss().(framework.Radial), nil, nil, nil
		return
	}
	k.radial, k.twice, k.Metric, k.Linear = nil, a.constant, k.metric, k.linear
	m, D := k.f.M, k.f.D
	for i := range m {
		for j := range m {
			k.metric[i*m+j] = a.constant[i*D+j] / 2
		}
	}
}

// run takes one damped Newton step of every row.
func (k *quadraticInner) run(_ *Hessian, job *innerShard, from, to int) (losses []float64, evaluations float64, err error) {
	losses, evaluations = k.form[:to-from], float64(to-from)
	k.stepRows(job, from, to)
	switch {
	case k.radial == nil:
		evaluations *= float64(k.f.D) / float64(k.f.M)
	default:
		if k.radial.Rho(losses, nil, nil, losses); k.coords == nil {
			evaluations *= 2
		}
	}
	for i := range losses {
		losses[i] *= k.data.Weight(from + i)
	}
	return losses, evaluations, nil
}

// stepRows steps the rows and writes their quadratic forms into k.form.
func (k *quadraticInner) stepRows(job *innerShard, from, to int) {
	d := k.f.Latent
	for i := from; i < to; i++ {
		tau, other := job.tau[i*d:(i+1)*d], job.other[i*d:(i+1)*d]
		rest := k.load(i)
		value := k.Value(tau)
		if k.data.Weight(i) > 0 {
			if v := k.Value(other); v < value {
				value = v
				copy(tau, other)
			} else {
				k.Value(tau)
			}
			value, _ = k.Step(tau, value, nearest.InnerTries)
		}
		k.form[i-from] = value + rest
	}
}

// load sets y and b for row i of the data, x, and returns the rest.
func (k *quadraticInner) load(i int) (rest float64) {
	f, x := k.f, k.data.Row(i)
	if k.coords == nil {
		floats.SubTo(k.diff, x, f.C)
		f.ToFrame(k.Y, k.diff)
		for j, v := range k.Y {
			floats.AddScaled(k.diff, -v, f.Axis(j))
		}
		return dense.Dot(k.diff, k.diff)
	}
	y := k.coords[i*f.D : (i+1)*f.D]
	k.frame.toFrame(y, x)
	copy(k.Y, y)
	if k.twice == nil {
		return 0
	}
	for r := range f.D {
		v := -dense.Dot(k.twice[r*f.D+f.M:(r+1)*f.D], y[f.M:]) / 2
		if r < f.M {
			k.linear[r] = v
		} else {
			rest -= v * y[r]
		}
	}
	return rest
}
