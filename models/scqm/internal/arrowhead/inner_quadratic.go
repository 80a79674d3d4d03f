package arrowhead

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// quadraticInner takes Newton steps of a row's tau if the loss is an increasing function of the norm of the residual.
// y = W'(x - c) has the part y_Q in the span of Q and the rest y_C. The squared norm is |z(tau) - y_Q|^2 + |y_C|^2: a
// problem in R^m without D. A step takes 2Dm operations for y and those of [nearest.Quadratic].
type quadraticInner struct {
	*nearest.Quadratic
	f    *sheet.Sheet
	diff []float64 // D
	form []float64 // n: the squared norms of a batch

	// The fields below are set by prepare.
	data   *rows.Data
	radial framework.Radial
}

func newQuadraticInner(f *sheet.Sheet, n int) *quadraticInner {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &quadraticInner{
		Quadratic: nearest.NewQuadratic(f), f: f, diff: vec(f.D), form: vec(n),
	}
}

// prepare sets the loss and the data.
func (k *quadraticInner) prepare(a *Hessian) {
	k.data, k.radial = a.o.Data(), a.o.Loss().(framework.Radial)
}

// run takes one damped Newton step of every row in [from, to).
func (k *quadraticInner) run(_ *Hessian, job *innerShard, from, to int) (losses []float64, evaluations float64, err error) {
	losses, evaluations = k.form[:to-from], 2*float64(to-from)
	k.stepRows(job, from, to)
	k.radial.Rho(losses, nil, nil, losses)
	for i := range losses {
		losses[i] *= k.data.Weight(from + i)
	}
	return losses, evaluations, nil
}

// stepRows takes a step for each of the rows, and writes the squared norms of their residuals into k.form.
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

// load sets y for row i of the data. It returns |y_C|^2.
func (k *quadraticInner) load(i int) (rest float64) {
	f, x := k.f, k.data.Row(i)
	floats.SubTo(k.diff, x, f.C)
	f.ToFrame(k.Y, k.diff)
	for j, v := range k.Y {
		floats.AddScaled(k.diff, -v, f.Axis(j))
	}
	return dense.Dot(k.diff, k.diff)
}
