package residuals

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// New returns sum_i w_i loss(r_i(x)) as a problem. Weights are finite and at least 0,
// not all 0; nil stands for 1. threads below 1 stands for all processors; results do
// not depend on it. Evaluations end early with the error of ctx when it is done.
//
// The problem has Resume, and is a framework.GaussNewton. It is a framework.IntrinsicHessian if manifolds with a
// framework.Metric have parallel transport. The relative error is about 1e-10 if f is a [Jacobian], otherwise 1e-6.
// For a loss with kinks (framework.Smoother) it is framework.Smoothable, a framework.Stateful, and a
// framework.Certifier: the stationarity of a block is then
//
//	|sum_i w_i J_i'g_i| / sum_i w_i |J_i'g_i|,  g_i the gradient of the loss at r_i,
//
// a unit-free number in [0, 1]. If rows are at a kink, the numerator may use gradients of the loss smoothed over the
// last length, those at x or the best ones of the run, if this gives a smaller number. For a convex loss they are
// subgradients up to a defect. The number is then at least the sum of the defects, relative to the cost or, if
// larger, to the cost of residuals as long as the first smoothing length. It is 0 if the cost is no larger than
// rounding errors of x allow.
func New(ctx context.Context, f Function, loss framework.Loss, weights []float64, threads int) (framework.Problem, error) {
	f = unwrap(f)
	var err error
	if f != nil {
		_, m := f.Shape()
		if loss, err = losses.Rounded(loss, m, 1); err != nil {
			return nil, fmt.Errorf("residuals: %w", err)
		}
	}
	p, err := newProblem(ctx, f, loss, weights, threads)
	if err != nil {
		return nil, err
	}
	_, kinks := loss.(framework.Smoother)
	known := differentiable(f)
	switch {
	case kinks && known:
		return struct {
			*problem
			rounding
			*intrinsic
		}{p, newRounding(p), newIntrinsic(p)}, nil
	case kinks:
		return struct {
			*problem
			rounding
		}{p, newRounding(p)}, nil
	case known:
		return struct {
			*problem
			*intrinsic
		}{p, newIntrinsic(p)}, nil
	default:
		return p, nil
	}
}

// differentiable reports whether the manifolds of f have the transport of gradients that second derivatives need.
func differentiable(f Function) bool {
	for _, b := range f.Blocks() {
		_, own := b.Manifold.(framework.Metric)
		if _, ok := b.Manifold.(framework.Transporter); own && !ok {
			return false
		}
	}
	return true
}

// unwrap returns the implementation of a [Distances], which may have derivatives.
func unwrap(f Function) Function {
	if d, ok := f.(*Distances); ok {
		return d.Function
	}
	return f
}

// problem has the parts common to all problems of residuals.
type problem struct {
	jacobian     Jacobian
	loss, plain  framework.Loss // the loss as evaluated, possibly smoothed, and the original loss
	rounded      framework.Loss // over the last length above 0; nil for none
	eps          float64        // the current smoothing length, 0 for none
	first, last  float64        // the largest length, and the last one above 0
	dual         *multipliers   // of smoothed losses; nil if kinks do not matter
	weights      []float64      // nil: all 1
	ctx          context.Context
	threads      int
	blocks       []framework.Block
	n, m         int
	at           framework.Point // point at which r was computed; nil for none
	r, g, change []float64       // n x m
	values       []float64       // n
	sums         []framework.Point
	costs        []float64
	errs         []error
}

func newProblem(ctx context.Context, f Function, loss framework.Loss, weights []float64, threads int) (*problem, error) {
	if f == nil || loss == nil {
		return nil, fmt.Errorf("residuals: a function and a loss are needed: %w", rows.ErrInput)
	}
	n, m := f.Shape()
	if n < 1 || m < 1 {
		return nil, fmt.Errorf("residuals: %d rows of length %d; at least one row of one entry is needed: %w", n, m, rows.ErrInput)
	}
	if l, ok := loss.(rowloss.Dimensioned); ok && l.Dim() != m {
		return nil, fmt.Errorf("residuals: loss %s is for rows of length %d, these have %d: %w", loss.Name(), l.Dim(), m, rows.ErrInput)
	}
	if err := checkWeights(weights, n); err != nil {
		return nil, err
	}
	p := &problem{
		loss: loss, plain: loss, weights: weights, ctx: ctx, threads: par.Threads(threads), blocks: f.Blocks(), n: n, m: m,
		r: make([]float64, n*m), g: make([]float64, n*m), change: make([]float64, n*m), values: make([]float64, n),
		sums: make([]framework.Point, par.Shards(n)), costs: make([]float64, par.Shards(n)), errs: make([]error, par.Shards(n)),
	}
	if l, ok := loss.(rowloss.HighLatency); ok {
		p.threads = max(p.threads, l.Callers())
	}
	for s := range p.sums {
		p.sums[s] = framework.NewPoint(p.blocks)
	}
	var ok bool
	if p.jacobian, ok = f.(Jacobian); !ok {
		var err error
		if p.jacobian, err = newDifferences(f); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func checkWeights(weights []float64, n int) error {
	if weights == nil {
		return nil
	}
	if len(weights) != n {
		return fmt.Errorf("residuals: %d weights for %d rows: %w", len(weights), n, rows.ErrInput)
	}
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("residuals: weight of row %d is %v, want a finite number of at least 0: %w", i, w, rows.ErrInput)
		}
	}
	if floats.Max(weights) == 0 {
		return fmt.Errorf("residuals: all weights are 0: %w", rows.ErrInput)
	}
	return nil
}

// Blocks describes the domain of the function.
func (p *problem) Blocks() []framework.Block { return p.blocks }

func (p *problem) weight(i int) float64 {
	if p.weights == nil {
		return 1
	}
	return p.weights[i]
}

// eachShard calls work for the rows lo, ..., hi-1 of every shard and returns the first
// error.
func (p *problem) eachShard(work func(shard, lo, hi int) error) error {
	par.Do(p.threads, len(p.sums), func(_, s int) {
		if p.errs[s] = p.ctx.Err(); p.errs[s] == nil {
			lo, hi := par.Bounds(p.n, s)
			p.errs[s] = work(s, lo, hi)
		}
	})
	for _, err := range p.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// moveTo computes the residuals at x.
func (p *problem) moveTo(x framework.Point) error {
	if p.at != nil && p.at.Equal(x) {
		return nil
	}
	p.at = nil
	err := p.eachShard(func(_, lo, hi int) error {
		return p.jacobian.Residuals(p.r[lo*p.m:hi*p.m], x, lo, hi)
	})
	if err != nil {
		return fmt.Errorf("residuals: %w", err)
	}
	p.at = x.Clone()
	return nil
}

// differentiateAt makes the products with the Jacobian at x available, and the
// residuals there.
func (p *problem) differentiateAt(x framework.Point) error {
	if err := p.moveTo(x); err != nil {
		return err
	}
	if d, ok := p.jacobian.(*differences); ok {
		return d.prepare(p, x)
	}
	return nil
}

// Evaluate returns the sum of weighted losses and its gradient.
func (p *problem) Evaluate(grad, x framework.Point) (float64, error) {
	if err := p.moveTo(x); err != nil {
		return 0, err
	}
	err := p.eachShard(func(s, lo, hi int) error {
		if err := p.loss.Evaluate(p.values[lo:hi], nil, p.r[lo*p.m:hi*p.m], p.m); err != nil {
			return p.lossError(err)
		}
		p.costs[s] = 0
		for i := lo; i < hi; i++ {
			if w := p.weight(i); w > 0 {
				p.costs[s] += w * p.values[i]
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	cost := floats.Sum(p.costs)
	if grad == nil || math.IsNaN(cost) || math.IsInf(cost, 0) {
		return cost, nil
	}
	return cost, p.Resume(grad)
}

// Resume writes the requested gradients at the point evaluated last.
func (p *problem) Resume(grad framework.Point) error {
	x := p.at
	if err := p.differentiateAt(x); err != nil {
		return err
	}
	err := p.sum(grad, func(s, lo, hi int) error {
		g, err := p.scaledGradients(lo, hi)
		if err != nil {
			return err
		}
		p.dual.note(p, g, lo, hi)
		return p.jacobian.AddTransposedProduct(p.sums[s], x, g, lo, hi)
	})
	if err == nil {
		p.dual.keep(p, grad, x)
	}
	return err
}

// scaledGradients computes w_i g_i for the rows of a shard.
func (p *problem) scaledGradients(lo, hi int) ([]float64, error) {
	g := p.g[lo*p.m : hi*p.m]
	if err := p.loss.Evaluate(nil, g, p.r[lo*p.m:hi*p.m], p.m); err != nil {
		return nil, p.lossError(err)
	}
	p.scaleRows(g, lo)
	return g, nil
}

// scaleRows multiplies the rows lo, lo+1, ... by their weights.
func (p *problem) scaleRows(g []float64, lo int) {
	if p.weights == nil {
		return
	}
	for i := 0; i < len(g); i += p.m {
		floats.Scale(p.weights[lo+i/p.m], g[i:i+p.m])
	}
}

// sum adds up the sums that add computes for each shard, in the order of shards, and writes the requested blocks.
func (p *problem) sum(dst framework.Point, add func(shard, lo, hi int) error) error {
	err := p.eachShard(func(s, lo, hi int) error {
		p.sums[s].Zero()
		return add(s, lo, hi)
	})
	if err != nil {
		return err
	}
	for k := range dst {
		if dst[k] == nil {
			continue
		}
		clear(dst[k])
		for _, s := range p.sums {
			floats.Add(dst[k], s[k])
		}
	}
	return nil
}

func (p *problem) lossError(err error) error {
	return fmt.Errorf("residuals: loss %s: %w", p.plain.Name(), err)
}
