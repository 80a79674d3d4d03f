package scqm

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// streamProblem is the fit of a model to rows that are somewhere else, as a
// framework.Problem whose blocks are c, Q and Theta: every tau_i is eliminated, that is
// found anew at each sheet. By the envelope theorem the gradient of
//
//	F(c, Q, Theta) = sum_i w_i min_tau loss(f(tau) - x_i) + Lambda sum_k |A_k|_F^2
//
// is that for fixed tau_i, a sum over the rows, as the moments of a sweep are. All that
// is asked of the rows is the answer to a request.
type streamProblem struct {
	ctx    context.Context
	engine Engine
	loss   framework.Loss
	n      int
	shape  sheet.Shape
	unit   float64 // h: root mean squared distance from the mean
	spread float64 // h^2, 0 where all rows are equal
	weight float64 // of all rows

	lambda, maxPenalty float64
	scale              float64 // at which the rounding of kinks begins; 0 for none
	eps, lastEps       float64

	f      *sheet.Sheet
	outer  *alternating.Outer
	blocks []framework.Block
	chart  *arrowhead.Hessian // of no rows, made at first use; see RetractOuter
	draws  *draws             // nil where blocks are not drawn
	sample []int              // blocks that are summed alone; nil where all are
	kept   [2]found           // the last answers on gradients
	placed bool               // rows are projected, not placed by pure passes
	summed int                // blocks
	timed  timed              // the time limit of the run
}

// found is an answer on gradients.
type found struct {
	hash   [32]byte // of the request for the gradient
	first  *blocks.FirstOrder
	second *blocks.SecondOrder // nil where that was not asked for
}

// sampleRows bounds the rows whose tau a fit looks at.
const sampleRows = 1 << 14

func newStreamProblem(ctx context.Context, e Engine, loss framework.Loss, d, s int) *streamProblem {
	n, D := e.Shape()
	p := &streamProblem{ctx: ctx, engine: e, loss: loss, n: n, f: sheet.New(D, d, s)}
	p.shape = p.f.Shape
	p.blocks = []framework.Block{
		{Name: "c", Manifold: manifolds.Euclidean(D)},
		{Name: "Q", Manifold: manifolds.NewStiefel(D, d+s)},
		{Name: "Theta", Manifold: manifolds.Euclidean(p.shape.Q * s)},
	}
	return p
}

// request returns one at a point.
func (p *streamProblem) request(kind blocks.Kind, x framework.Point) *blocks.Request {
	r := &blocks.Request{Kind: kind, N: p.n, D: p.shape.D, Latent: p.shape.Latent, S: p.shape.S, Unit: p.unit}
	if x != nil {
		r.C, r.Q, r.Theta = x[BlockC], x[BlockQ], x[BlockTheta]
	}
	if kind.Scores() {
		r.Loss, r.Eps = identityOf(p.loss), p.eps
	}
	if kind == blocks.Gradient || kind == blocks.Projected || kind == blocks.Curvature {
		r.Scale = p.scale
		r.Stride = (p.n + sampleRows - 1) / sampleRows
	}
	return r
}

// sum asks for one.
func (p *streamProblem) sum(r *blocks.Request) (sums, sample []float64, err error) {
	if p.sample != nil {
		r.Chosen = p.sample
	}
	if p.summed += Blocks(p.n); r.Chosen != nil {
		p.summed += len(r.Chosen) - Blocks(p.n)
	}
	ctx, cancel := p.timed.within(p.ctx, !p.placed)
	defer cancel()
	partial, err := p.engine.Sum(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	return r.Total(partial)
}

// timed is a time limit that holds inside reads.
type timed struct {
	limits framework.Options
	costed bool // the run has a cost, without which it has no result
	last   bool // a read has begun after the limit
}

// verdictShare is the part of a time limit for which reads may go on after it to judge a result, and
// leastVerdict how long they may at least.
const verdictShare, leastVerdict = 10, time.Second

// within returns the context of a read. The first one after the limit, if it is a pass, is read to its end, as
// it tells the objective, and with it the residuals, of the point that is returned.
func (t *timed) within(ctx context.Context, pass bool) (context.Context, context.CancelFunc) {
	after := t.limits.OutOfTime()
	if !t.costed || after && pass && !t.last {
		t.last = after
		return ctx, func() {}
	}
	return t.limits.WithTimeLimit(ctx, max(t.limits.TimeLimit/verdictShare, leastVerdict))
}

// reads is the number of times that all rows were read, a part of them counting as one.
func (p *streamProblem) reads() int { return (p.summed + Blocks(p.n) - 1) / Blocks(p.n) }

// SumsBlocks implements [solvers.BlockSummer].
func (p *streamProblem) SumsBlocks() {}

// Blocks implements [framework.Problem].
func (p *streamProblem) Blocks() []framework.Block { return p.blocks }

// Evaluate implements [framework.Problem].
func (p *streamProblem) Evaluate(grad, x framework.Point) (float64, error) {
	o, err := p.firstOrder(x)
	if err != nil {
		return 0, err
	}
	for k, g := range [][]float64{o.C, o.Q, o.Theta} {
		if grad != nil && grad[k] != nil {
			copy(grad[k], g)
		}
	}
	return o.Cost + p.penalty(grad, x[BlockTheta]), nil
}

// firstOrder returns the first-order system at a point, which costs a read unless it is
// one of the last two.
func (p *streamProblem) firstOrder(x framework.Point) (*blocks.FirstOrder, error) {
	k, err := p.find(x, false)
	return k.first, err
}

// find returns the derivatives at a point, of second order too where these are asked for.
func (p *streamProblem) find(x framework.Point, second bool) (found, error) {
	kind := blocks.Gradient
	if p.placed {
		kind = blocks.Projected
	}
	r := p.request(kind, x)
	r.Chosen = p.sample // which tells requests apart
	hash, err := r.Hash()
	if err != nil {
		return found{}, err
	}
	for _, k := range p.kept {
		if k.first != nil && k.hash == hash && (k.second != nil || !second) {
			return k, nil
		}
	}
	if second {
		r.Kind = blocks.Curvature
	}
	sums, sample, err := p.sum(r)
	if err != nil {
		return found{}, err
	}
	p.timed.costed = true
	k := found{hash: hash, first: r.FirstOrder(sums, sample)}
	if second {
		k.second = r.SecondOrder(sums)
	}
	p.kept[0], p.kept[1] = k, p.kept[0]
	return k, nil
}

// penalty returns Lambda sum_k |A_k|_F^2 and adds its gradient.
func (p *streamProblem) penalty(grad framework.Point, theta []float64) float64 {
	var sum float64
	for a := range p.shape.Q {
		u := p.lambda * sheet.VechWeight(p.shape.Latent, a)
		for k := range p.shape.S {
			t := theta[a*p.shape.S+k]
			sum += u * t * t
			if grad != nil && grad[BlockTheta] != nil {
				grad[BlockTheta][a*p.shape.S+k] += 2 * u * t
			}
		}
	}
	return sum
}

// rounded is the loss in use.
func (p *streamProblem) rounded() framework.Loss {
	if s, ok := p.loss.(framework.Smoother); ok && p.eps > 0 {
		return s.Smooth(p.eps)
	}
	return p.loss
}

// OuterBlocks lists all blocks where the loss can be swept, but for norms whose kink rows
// come near: there sweeps take several times as many reads as Newton's method, and end in
// short steps before the minimum. Draws are sweeps, whatever the loss.
func (p *streamProblem) OuterBlocks() []int {
	shape, fits := p.ArrowheadShape()
	newton := fits && shape.Outer <= solvers.StreamedOuter && meetsKinks(p.loss, p.shape)
	if !alternating.CanSweep(p.rounded()) || newton && p.draws == nil {
		return nil
	}
	return []int{BlockC, BlockQ, BlockTheta}
}

// Sweep implements [framework.Sweeper], with all tau as inner variables that are not
// seen.
func (p *streamProblem) Sweep(next, x framework.Point) (float64, error) {
	if p.draws != nil {
		return p.sweepReacting(next, x)
	}
	r := p.request(blocks.Sweep, x)
	sums, _, err := p.sum(r)
	if err != nil {
		return 0, err
	}
	p.timed.costed = true
	m := p.load(x, sums)
	return sums[0] + p.penalty(nil, x[BlockTheta]), p.outer.Solve(next, m, p.lambda)
}

// load makes moments of sums at a point.
func (p *streamProblem) load(x framework.Point, sums []float64) *alternating.Moments {
	if p.outer == nil {
		p.outer = alternating.NewOuter(p.f, p.unit)
	}
	p.f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	m := alternating.NewMoments(p.f)
	m.Load(sums)
	return m
}

// Smooth implements [framework.Smoothable].
func (p *streamProblem) Smooth(eps float64) {
	if p.eps = eps; eps > 0 {
		p.lastEps = eps
	}
}

// SmoothingScale returns the median size of the residuals at the start, of their entries
// or of their norms where the loss is radial; see [objective.Objective.SmoothingScale].
func (p *streamProblem) SmoothingScale(framework.Point) (float64, error) { return p.scale, nil }

// meetsKinks reports whether a loss of the norm has a kink at 0 that rows come near, as
// they do where the sheet has few normals.
func meetsKinks(l framework.Loss, f sheet.Shape) bool {
	_, kinks := l.(framework.Smoother)
	_, radial := l.(framework.Radial)
	return kinks && radial && f.D-f.Latent <= objective.FewNormals
}

// findScale sets the smoothing scale for a start.
func (p *streamProblem) findScale(x framework.Point) error {
	p.scale, p.eps, p.lastEps = 0, 0, 0
	if _, kinks := p.loss.(framework.Smoother); !kinks {
		return nil
	}
	_, radial := p.loss.(framework.Radial)
	if radial && !meetsKinks(p.loss, p.shape) {
		return nil
	}
	kind := blocks.Entries
	if radial {
		kind = blocks.Norms
	}
	counts, _, err := p.sum(p.request(kind, x))
	if err == nil {
		p.scale = blocks.Quantile(counts, 0.5)
	}
	return err
}

// firstOrderNorms are the norms of the gradients of c, Q, Theta and tau, and the numbers
// of Stationarity.
type firstOrderNorms struct{ norms, residuals [objective.NumBlocks]float64 }

func (n *firstOrderNorms) worst() float64 { return floats.Max(n.residuals[:BlockTau]) }

// Stationarity writes the residuals of c, Q and Theta as [objective.Objective.Stationarity]
// does, from sums over all rows.
func (p *streamProblem) Stationarity(dst []float64, x framework.Point) error {
	n, err := p.norms(x)
	copy(dst, n.residuals[:BlockTau])
	return err
}

// norms measures with the loss itself and, where it was rounded, with that over the last
// length, and returns what is smaller.
func (p *streamProblem) norms(x framework.Point) (firstOrderNorms, error) {
	defer func(eps float64) { p.eps = eps }(p.eps)
	p.eps = 0
	o, err := p.firstOrder(x)
	if err != nil {
		return firstOrderNorms{}, err
	}
	best := p.measure(o, x, 0)
	if p.lastEps == 0 {
		return best, nil
	}
	p.eps = p.lastEps
	rounded, err := p.firstOrder(x)
	if err != nil {
		return best, err
	}
	slack := 0.0
	if o.Cost > 0 {
		slack = max(0, o.Cost-rounded.Cost) / o.Cost
	}
	if other := p.measure(rounded, x, slack); other.worst() < best.worst() {
		return other, nil
	}
	return best, nil
}

// measure turns sums into norms.
func (p *streamProblem) measure(o *blocks.FirstOrder, x framework.Point, slack float64) (n firstOrderNorms) {
	slope := make([]float64, len(o.Theta))
	p.penalty(framework.Point{nil, nil, slope}, x[BlockTheta])
	theta := make([]float64, len(o.Theta))
	floats.AddTo(theta, o.Theta, slope)
	terms := o.Terms
	terms[BlockTheta] += floats.Norm(slope, 2)
	if o.Exact {
		// As gradients of rounding errors tell nothing, only the penalty counts, if that
		// of a sheet that is bent.
		terms = [objective.NumBlocks]float64{}
		if !flatToRounding(o, x) && !p.kinksBalance(o, x, floats.Norm(slope, 2)) {
			terms[BlockTheta] = floats.Norm(slope, 2)
		}
		n.norms[BlockTheta] = terms[BlockTheta]
	} else {
		q := make([]float64, len(o.Q))
		p.blocks[BlockQ].Gradient(q, x[BlockQ], o.Q)
		n.norms = [objective.NumBlocks]float64{floats.Norm(o.C, 2), floats.Norm(q, 2), floats.Norm(theta, 2), o.TauNorms}
	}
	for k := range n.residuals {
		if terms[k] > 0 {
			n.residuals[k] = math.Max(math.Min((n.norms[k]+o.Noise[k])/terms[k], 1), slack)
		}
	}
	return n
}

// flatToRounding reports whether the bends of a sheet through all rows are, in the root of
// their mean square at most, within the rounding errors of rows.
func flatToRounding(o *blocks.FirstOrder, x framework.Point) bool {
	var squares float64 // mean of |tau|^2
	d := len(o.TauSum)
	for j := range d {
		squares += o.TauSquares[j*d+j] / o.Weight
	}
	return floats.Norm(x[BlockTheta], 2)*squares <= objective.InterpolationError(math.Sqrt(squares), floats.Norm(x[BlockC], math.Inf(1)))
}

// kinksBalance reports whether gradients of a loss with kinks can be as long as a slope of
// the penalty, where the sheet runs through all rows: sum w |phi(tau)|, which is at least
// sum w |tau|^2 / sqrt 2, times the length of a gradient next to the kink. As for fits in
// memory, whether they do balance it is not looked into.
func (p *streamProblem) kinksBalance(o *blocks.FirstOrder, x framework.Point, slope float64) bool {
	if _, kinked := p.loss.(framework.Smoother); !kinked {
		return false
	}
	var squares float64
	d := len(o.TauSum)
	for j := range d {
		squares += o.TauSquares[j*d+j]
	}
	rounding := objective.InterpolationError(math.Sqrt(squares/o.Weight), floats.Norm(x[BlockC], math.Inf(1)))
	r := make([]float64, p.shape.D)
	for k := range r {
		r[k] = rounding
	}
	if err := p.loss.Evaluate(nil, r, r, len(r)); err != nil {
		return false
	}
	return slope <= squares/math.Sqrt2*floats.Norm(r, 2)
}

// Refute tells of fits whose curvature still grows; see [Problem.Refute].
func (p *streamProblem) Refute(x framework.Point) (string, error) {
	if p.shape.S == 0 {
		return "", nil
	}
	p.f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	curvature := p.f.CurvatureBound() * math.Sqrt(p.spread)
	if !(curvature > unknownGrowth) {
		return "", nil
	}
	return fmt.Sprintf("the curvature may still grow: its radius is 1/%.0f of the spread of the rows, and there may be no minimum; a larger ridge makes sure that there is one", curvature), nil
}
