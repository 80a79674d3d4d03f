package blocks

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// The sums of a Gradient before its arrays: cost, sum of |grad_tau_i|, number of rows
// with nonzero residuals, weight, terms of the gradients and their rounding errors;
// then the gradients of c, Q and Theta, and sum w tau and sum w tau tau'.
const gradientHead = 4 + 2*objective.NumBlocks

// firstOrderLen is the number of sums of a Gradient.
func (r *Request) firstOrderLen() int {
	d, m := r.Latent, r.Latent+r.S
	return gradientHead + r.D + r.D*m + sheet.VechLen(d)*r.S + d + d*d
}

// FirstOrder is the result of a Gradient request: the cost with tau eliminated, and its gradient. By the envelope
// theorem this is the gradient for fixed tau.
type FirstOrder struct {
	Cost float64
	// TauNorms is the sum of the norms of the gradients with respect to tau_i. They are 0 up to the precision of the
	// nearest points.
	TauNorms float64
	// Exact reports that all residuals are rounding errors.
	Exact bool
	// Weight is the sum of the weights of the rows.
	Weight float64
	// Terms are the norms of the terms of the gradients of c, Q, Theta and tau. Noise bounds their rounding errors; see
	// [objective.GradientTerms].
	Terms, Noise [objective.NumBlocks]float64
	// C, Q and Theta are the gradients with respect to these blocks.
	C, Q, Theta []float64
	// TauSum is sum w tau, of length d. TauSquares is sum w tau tau', d x d.
	TauSum, TauSquares []float64
	// Sample lists rows [w, tau] of 1 + d numbers.
	Sample []float64
}

// FirstOrder decodes the sums of a Gradient or Projected request.
func (r *Request) FirstOrder(sums, sample []float64) *FirstOrder {
	o := &FirstOrder{Cost: sums[0], TauNorms: sums[1], Exact: sums[2] == 0, Weight: sums[3], Sample: sample}
	at := 4
	at += copy(o.Terms[:], sums[at:])
	at += copy(o.Noise[:], sums[at:])
	for _, part := range []struct {
		to     *[]float64
		length int
	}{{&o.C, r.D}, {&o.Q, len(r.Q)}, {&o.Theta, len(r.Theta)}, {&o.TauSum, r.Latent}, {&o.TauSquares, r.Latent * r.Latent}} {
		*part.to = sums[at : at+part.length]
		at += part.length
	}
	return o
}

// gradientKernel projects every row of a block onto the sheet, and then sums cost and gradients as an Objective does.
type gradientKernel struct {
	r          *Request
	loss       framework.Loss
	f          *sheet.Sheet
	sweep      *alternating.StatelessSweep // projects rows as sweeps do; nil where the next two do
	projection *nearest.Projection         // under losses r'Mr; nil where projector does
	projector  *nearest.Projector
	whole      *blockObjective // for the number of rows of the last block
	grad       framework.Point
}

// blockObjective is an objective for blocks of a fixed number of rows.
type blockObjective struct {
	*objective.Objective
	n      int
	tau    []float64
	newton *nearest.General
}

func newGradientKernel(r *Request, loss framework.Loss, most int) *gradientKernel {
	f := r.sheet()
	k := &gradientKernel{r: r, loss: loss, f: f}
	_, metric := loss.(framework.Quadratic)
	switch {
	case r.Kind == Projected, r.Kind == Jackknife, nearest.SumsAbsolutes(loss) && r.Eps < boundedBelow*r.Scale:
		k.projector = nearest.NewProjector(f, loss)
	case metric:
		k.projection = nearest.NewLossProjection(f, loss)
	default:
		k.sweep = alternating.NewStatelessSweep(f, nil, most, 1)
	}
	return k
}

// load sets the block of the objective.
func (k *gradientKernel) load(ctx context.Context, x rows.Data) error {
	if k.whole != nil && k.whole.n == x.N {
		k.whole.SetData(x)
		return nil
	}
	o, err := objective.New(ctx, x, k.loss, k.r.Latent, k.r.S, 1)
	if err != nil {
		return err
	}
	k.whole = &blockObjective{Objective: o, n: x.N, tau: make([]float64, x.N*k.f.Latent), newton: nearest.NewGeneral(x.N, k.f.Latent)}
	k.grad = framework.NewPoint(o.Blocks())
	return nil
}

func (k *gradientKernel) sum(ctx context.Context, dst []float64, x rows.Data, first int) ([]float64, error) {
	if err := k.load(ctx, x); err != nil {
		return nil, err
	}
	o := k.whole
	if err := k.place(ctx, x, first); err != nil {
		return nil, err
	}
	o.Smooth(k.r.Eps)
	cost, terms, err := o.EvaluateTerms(k.grad, k.r.point(o.tau))
	if err != nil {
		return nil, err
	}
	dst[0], dst[1], dst[2], dst[3] = cost, 0, 1, 0
	if terms.Exact() {
		dst[2] = 0
	}
	at := 4
	at += copy(dst[at:], terms.Norms[:])
	at += copy(dst[at:], terms.Noise[:])
	for _, b := range []int{objective.BlockC, objective.BlockQ, objective.BlockTheta} {
		at += copy(dst[at:], k.grad[b])
	}
	return k.addTau(dst, dst[at:], x, first), nil
}

// place computes the projection tau of every row.
func (k *gradientKernel) place(ctx context.Context, x rows.Data, first int) error {
	o, f := k.whole, k.f
	switch {
	case k.sweep != nil:
		k.sweep.Place(o.tau, x)
		return o.eliminate(k.r, k.loss)
	case k.projection != nil:
		for i := range x.N {
			k.projection.Load(x.Row(i))
			k.projection.Find(o.tau[i*f.Latent : (i+1)*f.Latent])
		}
		return nil
	}
	err := k.projector.Project(ctx, o.tau, x, first)
	if err != nil || k.r.Eps == 0 {
		return err
	}
	return o.descend(k.r, k.r.Eps)
}

// addTau adds the sums over tau, and returns the sample.
func (k *gradientKernel) addTau(head, dst []float64, x rows.Data, first int) (sample []float64) {
	d := k.f.Latent
	clear(dst)
	for i := range x.N {
		w, tau := x.Weight(i), k.whole.tau[i*d:(i+1)*d]
		head[1] += floats.Norm(k.grad[objective.BlockTau][i*d:(i+1)*d], 2)
		head[3] += w
		floats.AddScaled(dst[:d], w, tau)
		for a, t := range tau {
			floats.AddScaled(dst[d+a*d:d+(a+1)*d], w*t, tau)
		}
		if k.r.Stride > 0 && (first+i)%k.r.Stride == 0 {
			sample = append(append(sample, w), tau...)
		}
	}
	return sample
}
