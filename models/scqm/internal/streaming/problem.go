package streaming

import (
	"context"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// Engine computes sums over all rows of a table, wherever they are stored.
type Engine interface {
	// Shape returns the number of rows and of columns.
	Shape() (n, D int)
	// Sum computes the sums that the request asks for, over all rows.
	Sum(ctx context.Context, r *blocks.Request) (*blocks.Partial, error)
}

// Problem is the fit of a model to rows behind an [Engine], as a framework.Problem with blocks c, Q and Theta. Every
// tau_i is eliminated: it is recomputed at each sheet. By the envelope theorem the gradient of
//
//	F(c, Q, Theta) = sum_i w_i min_tau loss(f(tau) - x_i) + Lambda sum_k |A_k|_F^2
//
// is the gradient for fixed tau_i, a sum over the rows, like the moments of a sweep. The rows are only accessed by
// requests.
type Problem struct {
	ctx    context.Context
	engine Engine
	loss   framework.Loss
	n      int
	shape  sheet.Shape
	unit   float64 // h: root mean squared distance from the mean
	spread float64 // h^2, 0 where all rows are equal
	weight float64 // of all rows

	latent.Explorer
	objective.Regularizer
	scale        float64 // the smoothing scale; 0 for none
	eps, lastEps float64

	f      *sheet.Sheet
	outer  *alternating.Outer
	blocks []framework.Block
	chart  *arrowhead.Hessian // of no rows, made at first use; see RetractOuter
	online bool               // rows are seen once; see [Problem.SetScales]
	kept   [2]found           // the last answers on gradients
	placed bool               // rows are projected from several starts, not by a pass
	reads  int                // of all rows
}

// found is the cached result of a gradient request.
type found struct {
	hash   [32]byte // of the request for the gradient
	first  *blocks.FirstOrder
	second *blocks.SecondOrder // nil where it was not requested
}

// sampleRows bounds the number of rows in a sample of tau.
const sampleRows = 1 << 14

// New prepares the fit of a sheet with d coordinates and s curvature dimensions to the rows of an engine. Its
// unit, its penalty and its smoothing scale are unknown before [Problem.NewStarts] and a first start, or
// [Problem.SetScales].
func New(ctx context.Context, e Engine, loss framework.Loss, d, s int) *Problem {
	n, D := e.Shape()
	p := &Problem{ctx: ctx, engine: e, loss: loss, n: n}
	p.shape.D, p.shape.Latent = D, d
	p.reshape(s)
	return p
}

// reshape changes the number of curvature dimensions to s.
func (p *Problem) reshape(s int) {
	D, d := p.shape.D, p.shape.Latent
	p.f = sheet.New(D, d, s)
	p.shape, p.outer, p.chart, p.kept = p.f.Shape, nil, nil, [2]found{}
	p.blocks = []framework.Block{
		{Name: "c", Manifold: manifolds.Euclidean(D)},
		{Name: "Q", Manifold: manifolds.NewStiefel(D, d+s)},
		{Name: "Theta", Manifold: manifolds.Euclidean(p.shape.Q * s)},
	}
}

// N returns the number of rows.
func (p *Problem) N() int { return p.n }

// Weight returns the sum of the weights of all rows.
func (p *Problem) Weight() float64 { return p.weight }

// Shape returns the shape of the sheet.
func (p *Problem) Shape() sheet.Shape { return p.shape }

// request returns a request at a point.
func (p *Problem) request(kind blocks.Kind, x framework.Point) *blocks.Request {
	r := &blocks.Request{Kind: kind, N: p.n, D: p.shape.D, Latent: p.shape.Latent, S: p.shape.S, Unit: p.unit}
	if x != nil {
		r.C, r.Q, r.Theta = x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta]
	}
	if kind.Scores() {
		r.Loss, r.Eps = blocks.Identity(p.loss), p.eps
	}
	if kind == blocks.Gradient || kind == blocks.Projected || kind == blocks.Curvature {
		r.Scale = p.scale
		r.Stride = (p.n + sampleRows - 1) / sampleRows
	}
	return r
}

// sum reads all rows to compute the sums of a request.
func (p *Problem) sum(r *blocks.Request) (sums, sample []float64, err error) {
	p.reads++
	partial, err := p.engine.Sum(p.ctx, r)
	if err != nil {
		return nil, nil, err
	}
	return r.Total(partial)
}

// Reads returns the number of times that all rows have been read.
func (p *Problem) Reads() int { return p.reads }

// SumsBlocks implements [solvers.BlockSummer].
func (p *Problem) SumsBlocks() {}

// Blocks implements [framework.Problem].
func (p *Problem) Blocks() []framework.Block { return p.blocks }

// Evaluate implements [framework.Problem].
func (p *Problem) Evaluate(grad, x framework.Point) (float64, error) {
	o, err := p.firstOrder(x)
	if err != nil {
		return 0, err
	}
	for k, g := range [][]float64{o.C, o.Q, o.Theta} {
		if grad != nil && grad[k] != nil {
			copy(grad[k], g)
		}
	}
	return o.Cost + p.Penalty(grad, x[objective.BlockTheta]), nil
}

// firstOrder returns the first-order system at a point, which costs a read unless it is
// one of the last two.
func (p *Problem) firstOrder(x framework.Point) (*blocks.FirstOrder, error) {
	k, err := p.find(x, false)
	return k.first, err
}

// find returns the gradient at a point, with second derivatives if second is true.
func (p *Problem) find(x framework.Point, second bool) (found, error) {
	kind := blocks.Gradient
	if p.placed {
		kind = blocks.Projected
	}
	r := p.request(kind, x)
	hash := r.Hash()
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
	k := found{hash: hash, first: r.FirstOrder(sums, sample)}
	if second {
		k.second = r.SecondOrder(sums)
	}
	p.kept[0], p.kept[1] = k, p.kept[0]
	return k, nil
}

// Penalty returns Lambda sum_k |A_k|_F^2 and adds its gradient.
func (p *Problem) Penalty(grad framework.Point, theta []float64) float64 {
	var slope []float64
	if grad != nil {
		slope = grad[objective.BlockTheta]
	}
	return p.PenaltyOf(p.shape, slope, theta)
}

// rounded returns the loss smoothed over the current length.
func (p *Problem) rounded() framework.Loss {
	if s, ok := p.loss.(framework.Smoother); ok && p.eps > 0 {
		return s.Smooth(p.eps)
	}
	return p.loss
}

// OuterBlocks lists all blocks if the loss has sweeps. Norms with rows near their kink are only swept if rows are
// read once: otherwise Newton's method takes several times fewer reads, and sweeps stall before the minimum.
func (p *Problem) OuterBlocks() []int {
	shape, fits := p.ArrowheadShape()
	newton := fits && shape.Outer <= solvers.StreamedOuter && meetsKinks(p.loss, p.shape)
	if !alternating.CanSweep(p.rounded()) || newton && !p.online {
		return nil
	}
	return []int{objective.BlockC, objective.BlockQ, objective.BlockTheta}
}

// Sweep implements [latent.Sweeper], with all tau as hidden inner variables.
func (p *Problem) Sweep(next, x framework.Point) (float64, error) {
	r := p.request(blocks.Sweep, x)
	sums, _, err := p.sum(r)
	if err != nil {
		return 0, err
	}
	m := p.load(x, sums)
	p.outer.Solve(next, m, p.Regularizer)
	return sums[0] + p.Penalty(nil, x[objective.BlockTheta]), nil
}

// load loads the sheet at a point and decodes the sums there as moments.
func (p *Problem) load(x framework.Point, sums []float64) *alternating.Moments {
	if p.outer == nil {
		p.outer = alternating.NewOuter(p.f, p.unit)
	}
	p.f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	m := alternating.NewMoments(p.f)
	copy(m.Sums, sums)
	return m
}

// Smooth implements [framework.Smoothable].
func (p *Problem) Smooth(eps float64) {
	if p.eps = eps; eps > 0 {
		p.lastEps = eps
	}
}

// SmoothingScale returns the median size of the residuals at the start, of their entries
// or of their norms where the loss is radial; see [objective.Objective.SmoothingScale].
func (p *Problem) SmoothingScale(framework.Point) (float64, error) { return p.scale, nil }

// meetsKinks reports whether a loss of the norm has a kink at 0 that rows come near, as they do in small
// codimension.
func meetsKinks(l framework.Loss, f sheet.Shape) bool {
	_, kinks := l.(framework.Smoother)
	_, radial := l.(framework.Radial)
	return kinks && radial && f.D-f.Latent <= objective.FewNormals
}

// Refute returns a warning if the curvature of the fit still grows; see [objective.Growing].
func (p *Problem) Refute(x framework.Point) (string, error) {
	if p.shape.S == 0 {
		return "", nil
	}
	p.f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	return objective.Growing(p, p.f, x, math.Sqrt(p.spread))
}
