package objective

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// The blocks of a Problem, in order.
const (
	BlockC = iota
	BlockQ
	BlockTheta
	BlockTau
	NumBlocks
)

// Objective is the cost of a sheet with latent coordinates on data,
//
//	sum_i w_i loss(f(tau_i) - x_i) + Lambda sum_k |A_k|_F^2,
//
// as a function of c, Q, Theta and Tau, with its first derivatives. An evaluation takes 2nDm operations and the loss
// of n rows; gradients take as many again. It holds buffers: use it from one goroutine at a time.
type Objective struct {
	Regularizer
	// Prior is the prior of rows with missing entries.
	Prior nearest.Prior

	data    rows.Data
	version uint64 // of data
	loss    framework.Loss
	threads int
	ctx     context.Context
	blocks  []framework.Block

	sheet   *sheet.Sheet
	workers []*nearest.Worker
	sums    []*sums // per shard
	center  float64 // the norm of c; for terms
	errs    []error // per shard
	total   *sums

	smoothing   smoothing // see Smooth
	multipliers []float64 // see SetMultipliers; empty for none
	linear      []float64 // n x D: see losses

	// The fields below are stored by Evaluate for Resume.
	at        framework.Point // the point
	residuals []float64       // n x D there; nil until Resume was called once
	kept      bool            // residuals belong to at
	cost      float64         // there

	gradient, slope framework.Point // memory of that

	// The fields below hold the first-order conditions at the last evaluated point, if known, with this regularizer.
	known       bool
	system      firstOrder
	regularized Regularizer
}

// New prepares the fit of a model with latent dimension d and s
// curvature dimensions, d >= 1, 0 <= s, d + s <= D. Evaluations end early with
// the error of ctx when it is done. threads below 1 stands for all processors;
// a [rowloss.HighLatency] loss is called from more goroutines.
func New(ctx context.Context, data rows.Data, loss framework.Loss, d, s, threads int) (*Objective, error) {
	if err := data.Validate(); err != nil {
		return nil, err
	}
	if d < 1 || s < 0 || d+s > data.D {
		return nil, fmt.Errorf("scqm: latent dimension %d and curvature dimension %d do not fit rows of length %d; want d >= 1 and d + s <= D: %w",
			d, s, data.D, rows.ErrInput)
	}
	if l, ok := loss.(rowloss.Dimensioned); ok && l.Dim() != data.D {
		return nil, fmt.Errorf("scqm: loss %s is for rows of length %d, the data have %d columns: %w", loss.Name(), l.Dim(), data.D, rows.ErrInput)
	}
	p := &Objective{
		data: data, loss: loss, ctx: ctx, threads: nearest.Callers(loss, threads),
		sheet: sheet.New(data.D, d, s),
	}
	p.blocks = []framework.Block{
		{Name: "c", Manifold: manifolds.Euclidean(data.D)},
		{Name: "Q", Manifold: manifolds.NewStiefel(data.D, d+s)},
		{Name: "Theta", Manifold: manifolds.Euclidean(sheet.VechLen(d) * s)},
		{Name: "Tau", Manifold: manifolds.Euclidean(d), Copies: data.N},
	}
	p.at = framework.NewPoint(p.blocks)
	p.workers = make([]*nearest.Worker, p.threads)
	p.sums, p.errs = make([]*sums, par.Shards(data.N)), make([]error, par.Shards(data.N))
	for i := range p.sums {
		p.sums[i] = newSums(p.sheet)
	}
	p.total = newSums(p.sheet)
	return p, nil
}

// NewSheet returns a new sheet of the shape of the objective.
func (p *Objective) NewSheet() *sheet.Sheet { return sheet.New(p.sheet.D, p.sheet.Latent, p.sheet.S) }

// Data returns the data, which belong to the caller of New. Call SetData after changing them.
func (p *Objective) Data() *rows.Data { return &p.data }

// Version returns the number of times that SetData has replaced the data.
func (p *Objective) Version() uint64 { return p.version }

// Loss returns the current loss, which Smooth may have smoothed.
func (p *Objective) Loss() framework.Loss { return p.loss }

// Context returns the context that cancels evaluations.
func (p *Objective) Context() context.Context { return p.ctx }

// Threads returns the number of goroutines of an evaluation.
func (p *Objective) Threads() int { return p.threads }

// Shape returns the shape of the sheet: the lengths of the blocks.
func (p *Objective) Shape() sheet.Shape { return p.sheet.Shape }

// SetData replaces the data by others of the same shape. It increments Version, so that caches of the data are renewed.
func (p *Objective) SetData(x rows.Data) {
	p.data = x
	p.version++
	p.kept, p.known = false, false
	p.SetMultipliers(nil)
}

// Blocks describes the blocks c, Q, Theta and Tau.
func (p *Objective) Blocks() []framework.Block { return p.blocks }

// Evaluate returns the cost and writes the requested gradients.
func (p *Objective) Evaluate(grad, x framework.Point) (float64, error) {
	return p.evaluate(grad, x, nil)
}

// evaluate also sums the norms of the terms of every gradient in the same pass, if requested.
func (p *Objective) evaluate(grad, x framework.Point, terms *GradientTerms) (float64, error) {
	p.known = p.known && p.at.Equal(x)
	p.at.CopyFrom(x)
	p.sheet.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	p.kept = false
	if err := p.accumulate(grad, false, terms); err != nil {
		return 0, err
	}
	p.kept = p.residuals != nil
	if p.data.Missing && !(x[:BlockTau].Finite()) {
		p.total.cost = math.NaN() // NaN of the sheet would count as missing entries
	}
	p.cost = p.total.cost + p.Penalty(grad, x[BlockTheta])
	return p.cost, nil
}

// KeptCost returns the cost at the last evaluated point.
func (p *Objective) KeptCost() float64 { return p.cost }

// Resume writes gradients at the point evaluated last. From its first call on, evaluations keep the residuals (n x D
// numbers). The gradients then follow without computing the cost again.
func (p *Objective) Resume(grad framework.Point) error {
	if p.residuals == nil {
		p.residuals = make([]float64, p.data.N*p.data.D)
	}
	p.sheet.Load(p.at[BlockC], p.at[BlockQ], p.at[BlockTheta])
	if err := p.accumulate(grad, p.kept, nil); err != nil {
		return err
	}
	p.kept = true
	p.Penalty(grad, p.at[BlockTheta])
	return nil
}

// accumulate runs over all rows once and computes what the requested gradients need. resume reuses the residuals of
// the last evaluation. terms may be nil.
func (p *Objective) accumulate(grad framework.Point, resume bool, terms *GradientTerms) error {
	if grad == nil {
		grad = noGradient
	}
	if terms != nil {
		p.center = floats.Norm(p.sheet.C, 2)
	}
	if p.threads == 1 { // without the closure that a goroutine needs
		for i := range p.sums {
			p.errs[i] = p.accumulateShard(0, i, grad, resume, terms != nil)
		}
	} else {
		par.Do(p.threads, len(p.sums), func(id, i int) { p.errs[i] = p.accumulateShard(id, i, grad, resume, terms != nil) })
	}
	if err := cmp.Or(p.errs...); err != nil {
		return err
	}
	p.total.reset()
	for _, s := range p.sums {
		p.total.add(s, grad, terms != nil)
	}
	p.total.write(p.sheet, grad)
	if terms != nil {
		*terms = p.total.terms
	}
	return nil
}

func (p *Objective) accumulateShard(id, i int, grad framework.Point, resume, terms bool) error {
	lo, hi := par.Bounds(p.data.N, i)
	p.sums[i].reset()
	return p.shard(p.Worker(id), p.sums[i], grad, lo, hi, resume, terms)
}

// Worker returns the buffers of worker id. It allocates them at the first call.
func (p *Objective) Worker(id int) *nearest.Worker {
	if p.workers[id] == nil {
		n := p.data.N
		if _, distant := p.loss.(rowloss.HighLatency); distant { // there are many workers
			n = (n + len(p.sums) - 1) / len(p.sums)
		}
		p.workers[id] = nearest.NewWorker(p.sheet, n)
	}
	return p.workers[id]
}

// shard adds rows lo to hi to s, in batches that fit the cache.
func (p *Objective) shard(w *nearest.Worker, s *sums, grad framework.Point, lo, hi int, resume, terms bool) error {
	for from := lo; from < hi; from += w.Batch {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		to := min(from+w.Batch, hi)
		if err := p.batch(w, s, grad, from, to, resume, terms); err != nil {
			return err
		}
	}
	return nil
}

func (p *Objective) batch(w *nearest.Worker, s *sums, grad framework.Point, from, to int, resume, terms bool) error {
	f, n := p.sheet, to-from
	tau := p.at[BlockTau][from*f.Latent : to*f.Latent]
	r := w.R[:n*f.D]
	if p.residuals != nil {
		r = p.residuals[from*f.D : to*f.D]
	}
	p.rowResiduals(w, r, tau, from, resume)
	values, g := w.Values[:n], w.G[:n*f.D]
	if resume {
		values = nil
	}
	if !terms && !slices.ContainsFunc(grad, func(g []float64) bool { return g != nil }) {
		g = nil
	}
	if err := p.losses(values, g, r, from); err != nil {
		return err
	}
	if terms { // before weights come into g
		if err := p.addTerms(w, &s.terms, r, g, from); err != nil {
			return err
		}
	}
	p.weigh(s, values, g, from, n)
	if g == nil {
		return nil
	}
	var tauGrad []float64
	if grad[BlockTau] != nil {
		tauGrad = grad[BlockTau][from*f.Latent : to*f.Latent]
	}
	s.accumulate(f, w, grad, g, tau, tauGrad)
	if p.Prior != nil && tauGrad != nil {
		for i := range n {
			prior := p.Prior.Of(p.data, from+i)
			prior.AddGradient(w.Row(tauGrad, f.Latent, i), w.Row(tau, f.Latent, i), p.data.Weight(from+i))
		}
	}
	return nil
}

// rowResiduals writes z and phi of the rows at tau, and their residuals unless those are known.
func (p *Objective) rowResiduals(w *nearest.Worker, r, tau []float64, from int, known bool) {
	f, n := p.sheet, len(r)/p.sheet.D
	for i := range n {
		z := w.Row(w.Z, f.M, i)
		f.Coordinates(z, w.Row(w.Phi, f.Q, i), tau[i*f.Latent:(i+1)*f.Latent])
		if !known {
			// The difference comes first, see residual.
			f.Deviation(r[i*f.D:(i+1)*f.D], p.data.Row(from+i))
		}
	}
	if !known {
		f.AddImages(r, w.Z, n)
	}
}

// weigh adds the weighted losses of n rows to s, and multiplies their gradients g by the weights. s and g may be nil.
func (p *Objective) weigh(s *sums, values, g []float64, from, n int) {
	D := p.sheet.D
	for i := range n {
		weight := p.data.Weight(from + i)
		if values != nil {
			s.cost += float64(weight * values[i])
			if p.Prior != nil {
				s.cost += float64(weight * p.priorLoss(p.at, from+i))
			}
		}
		if g != nil {
			dense.Scale(g[i*D:(i+1)*D], weight)
		}
	}
}

// priorLoss returns the prior term of the loss of row i at x.
func (p *Objective) priorLoss(x framework.Point, i int) float64 {
	tau := p.blocks[BlockTau].Row(x[BlockTau], i)
	return p.Prior.Of(p.data, i).Value(tau)
}

// PriorPenalty returns the weighted sum of the prior terms at x.
func (p *Objective) PriorPenalty(x framework.Point) float64 {
	var sum float64
	if p.Prior != nil {
		for i := range p.data.N {
			sum += float64(p.data.Weight(i) * p.priorLoss(x, i))
		}
	}
	return sum
}
