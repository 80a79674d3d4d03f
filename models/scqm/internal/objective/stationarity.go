package objective

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

const (
	// interpolation is the size of residuals, relative to the data about c, below which they count as rounding errors
	// and a fit as exact.
	interpolation = 1e-13
	// cancellation is the same bound relative to the data themselves, because a common offset of the data costs digits.
	cancellation = 1e-15
	// unitRoundoff is the size of a rounding error relative to the number rounded.
	unitRoundoff = 0x1p-53
)

// KKT holds the norms of the first-order conditions at a point, per sample: the norms of the gradients with respect
// to c, Q (Riemannian) and Theta divided by n, and the mean norm of the gradients with respect to tau_i. The unit is
// that of the loss's derivatives.
type KKT struct {
	C     float64 `json:"c"`
	Q     float64 `json:"Q"`
	Theta float64 `json:"Theta"`
	Tau   float64 `json:"tau"`
}

// Stationarity writes, per block, the norm of the gradient divided by the sum of the norms of its terms: scale-free
// numbers in [0, 1]. For c this is |sum g_i| / sum |g_i|, for Q |grad_Q| / sum |g_i||z_i|, for Theta |grad_Theta| /
// sum |phi_i||g_i| and for Tau sum |grad_tau_i| / sum |g_i||E_i|_F. The effect of rounding the residuals on the
// gradients is added: for rows that are 1e10 times as far from c as from the sheet, it is 1e-6. The penalty is a term
// of the gradient of Theta. If all residuals are rounding errors, so are their gradients, and the numbers are 0,
// except for the penalty of a curved sheet: only subgradients at a kink of the loss can balance it.
//
// The g_i are the choice among the following that gives the smallest numbers: the gradients of the loss (at a kink,
// one of many subgradients), the gradients of the loss smoothed over the last length, and the multipliers, if any. No
// number is less than their distance from subgradients of the loss itself, see CertificateSlack. It costs up to three
// evaluations.
func (p *Objective) Stationarity(dst []float64, x framework.Point) error {
	_, err := p.FirstOrder(dst, x)
	return err
}

// KKT computes the norms of the first-order system at x.
func (p *Objective) KKT(x framework.Point) (KKT, error) { return p.FirstOrder(nil, x) }

// FirstOrder computes the norms of KKT and, if requested, those of Stationarity from the same evaluations. It caches
// them, because a run requests them several times at the same point.
func (p *Objective) FirstOrder(stationarity []float64, x framework.Point) (KKT, error) {
	best, err := p.system, error(nil)
	if !p.known || p.regularized != p.Regularizer || p.Prior != nil || p.ctx.Err() != nil || !p.at.Equal(x) {
		best, err = p.bestFirstOrder(x)
		p.system, p.known, p.regularized = best, err == nil, p.Regularizer
	}
	for k := range stationarity {
		stationarity[k] = best.residual(k)
	}
	norms, n := best.norms, float64(p.data.N)
	return KKT{C: norms[BlockC] / n, Q: norms[BlockQ] / n, Theta: norms[BlockTheta] / n, Tau: norms[BlockTau] / n}, err
}

// firstOrder holds the first-order conditions at a point for some choice of subgradients.
type firstOrder struct {
	cost  float64
	loss  float64            // cost without penalty
	norms [NumBlocks]float64 // of the gradients
	terms [NumBlocks]float64 // sums of the norms of their terms; all 0 at an interpolation
	noise [NumBlocks]float64 // effect of rounding the residuals on the norms
	slack float64            // see CertificateSlack, for multipliers that of rounding the residuals
}

// residual returns the value that Stationarity reports for block k.
func (o *firstOrder) residual(k int) float64 {
	return Residual(o.norms[k], o.noise[k], o.terms[k], o.slack)
}

// Residual is a number of Stationarity: the norm of a gradient plus its rounding error, relative to the sum of
// the norms of its terms; at most 1, at least slack, and 0 without terms.
func Residual(norm, noise, terms, slack float64) float64 {
	if terms > 0 {
		return math.Max(math.Min((norm+noise)/terms, 1), slack)
	}
	return 0
}

func (o *firstOrder) worst() float64 {
	var worst float64
	for k := range o.norms {
		worst = math.Max(worst, o.residual(k))
	}
	return worst
}

// bestFirstOrder returns the first-order conditions at x for the choice of subgradients with the smallest numbers.
func (p *Objective) bestFirstOrder(x framework.Point) (best firstOrder, err error) {
	rounded := p.smoothing.rounded
	if rounded != nil {
		if best, err = p.firstOrderOf(rounded, x); err != nil {
			return best, err
		}
	}
	plain, err := p.firstOrderOf(p.PlainLoss(), x)
	if err != nil {
		return best, err
	}
	best.slack = CertificateSlack(plain.loss, best.loss)
	if rounded == nil || plain.worst() < best.worst() {
		best = plain
	}
	if len(p.multipliers) > 0 {
		o, err := p.multiplierCertificate(x, plain.loss)
		if err != nil {
			return best, err
		}
		if o.worst() < best.worst() {
			best = o
		}
	}
	return best, nil
}

// firstOrderOf returns the first-order conditions at x with the gradients of the given loss.
func (p *Objective) firstOrderOf(loss framework.Loss, x framework.Point) (firstOrder, error) {
	defer func(l framework.Loss) { p.loss = l }(p.loss)
	p.loss = loss
	return p.firstOrder(x)
}

// firstOrder returns the first-order conditions at x with the gradients of the current loss.
func (p *Objective) firstOrder(x framework.Point) (o firstOrder, err error) {
	if p.gradient == nil {
		p.gradient = framework.NewPoint(p.blocks)
	}
	grad := p.gradient
	var terms GradientTerms
	if o.cost, err = p.evaluate(grad, x, &terms); err != nil {
		return o, err
	}
	o.loss = p.total.cost
	if terms.Exact() {
		o.norms[BlockTheta] = p.unbalanced(x)
		o.terms[BlockTheta] = o.norms[BlockTheta]
		return o, nil
	}
	for k, b := range p.blocks[:BlockTau] {
		b.Gradient(grad[k], x[k], grad[k])
		o.norms[k] = floats.Norm(grad[k], 2)
	}
	tau := p.blocks[BlockTau]
	for i := range tau.Rows() {
		o.norms[BlockTau] += floats.Norm(tau.Row(grad[BlockTau], i), 2)
	}
	o.terms, o.noise, o.slack = terms.Norms, terms.Noise, terms.Slack
	o.terms[BlockTheta] += p.penaltySlope(x[BlockTheta])
	return o, nil
}

// unbalanced returns, for an exact fit at x, the slope of the penalty if no gradients of the loss can balance it, else 0.
func (p *Objective) unbalanced(x framework.Point) float64 {
	f := p.sheet
	z, phi := make([]float64, f.M), make([]float64, f.Q)
	var squares, bent float64
	for i := range p.data.N {
		tau := p.blocks[BlockTau].Row(x[BlockTau], i)
		squares += p.data.Weight(i) * floats.Dot(tau, tau)
		f.Coordinates(z, phi, tau)
		bent = math.Max(bent, floats.Norm(z[f.Latent:], math.Inf(1)))
	}
	if slope := p.penaltySlope(x[BlockTheta]); !Balanced(p.PlainLoss(), x[BlockC], bent, squares, p.data.TotalWeight(), slope) {
		return slope
	}
	return 0
}

// Balanced reports whether gradients of the loss can balance the slope of the penalty at an exact fit, given sum w
// |tau|^2, the total weight, and a bound of the heights of the curved part. They can if this bound is within the
// rounding errors of rows, which makes the sheet flat. Otherwise gradients of a differentiable loss vanish. Those of one
// with kinks are at most as long as next to the kink, and multiply features of norm |phi| >= |tau|^2 / sqrt 2; whether
// they do balance the slope is not tested.
func Balanced(loss framework.Loss, c []float64, bent, squares, weight, slope float64) bool {
	rounding := InterpolationError(math.Sqrt(squares/weight), floats.Norm(c, 2))
	if slope == 0 || bent <= rounding {
		return true
	}
	if _, kinked := loss.(framework.Smoother); !kinked {
		return false
	}
	r := slices.Repeat([]float64{rounding}, len(c))
	err := loss.Evaluate(nil, r, r, len(r))
	return err == nil && slope <= squares/math.Sqrt2*floats.Norm(r, 2)
}

func (p *Objective) penaltySlope(theta []float64) float64 {
	if p.slope == nil {
		p.slope = make(framework.Point, NumBlocks)
		p.slope[BlockTheta] = make([]float64, len(theta))
	}
	clear(p.slope[BlockTheta])
	p.Penalty(p.slope, theta)
	return floats.Norm(p.slope[BlockTheta], 2)
}

// InterpolationError is the largest norm of a residual that counts as a rounding error, for a row at the distance
// around from the center, whose norm is center.
func InterpolationError(around, center float64) float64 {
	return interpolation*around + cancellation*center
}

// GradientTerms are sums over the rows of the norms of the terms of the gradients.
type GradientTerms struct {
	// Norms are the norms of the terms. Noise is the effect of rounding the residuals on the gradients.
	Norms, Noise [NumBlocks]float64
	// Slack bounds the change of the slack of multipliers by rounding of the residuals.
	Slack float64
	// rough reports that some row has a residual larger than its own rounding error. It is tested by row, because the
	// rounding error of a distant row would hide the residuals of the others.
	rough bool
}

// Exact reports whether all residuals are rounding errors.
func (t *GradientTerms) Exact() bool { return !t.rough }

func (t *GradientTerms) reset() { *t = GradientTerms{} }

func (t *GradientTerms) add(o *GradientTerms) {
	for k := range t.Norms {
		t.Norms[k] += o.Norms[k]
		t.Noise[k] += o.Noise[k]
	}
	t.Slack += o.Slack
	t.rough = t.rough || o.rough
}

// EvaluateTerms does what Evaluate does, and also sums the norms of the terms of all gradients in the same pass.
func (p *Objective) EvaluateTerms(grad, x framework.Point) (cost float64, terms GradientTerms, err error) {
	cost, err = p.evaluate(grad, x, &terms)
	return cost, terms, err
}

// addTerms adds the terms of a batch of rows that begins at row from, with residuals r and gradients g of the loss.
func (p *Objective) addTerms(w *nearest.Worker, t *GradientTerms, r, g []float64, from int) error {
	f := p.sheet
	D, n := f.D, len(r)/f.D
	// The gradient of a loss of the norm has the relative error of the residual.
	structure := rowloss.StructureOf(p.loss)
	ofNorm := p.linear == nil && (structure == rowloss.StructureRadial || structure == rowloss.StructureQuadratic)
	var changes []float64
	if !ofNorm {
		var err error
		if changes, err = p.changes(w, r, g, from); err != nil {
			return err
		}
	}
	for i := range n {
		weight := p.data.Weight(from + i)
		if !(weight > 0) {
			continue
		}
		around, resid := p.extent(r[i*D:(i+1)*D], w.Row(w.Z, f.M, i), from+i)
		t.rough = t.rough || resid > InterpolationError(around, p.center)
		length, rounding := weight*dense.Norm(g[i*D:(i+1)*D]), unitRoundoff*around
		var change float64
		switch {
		case p.linear != nil:
			t.Slack += rounding * weight * changes[i]
		case resid > 0 && ofNorm:
			change = length * rounding / resid
		case resid > 0:
			change = weight * changes[i]
		}
		p.addRowTerms(w, t, length, min(change, length), from, i)
	}
	return nil
}

// changes returns, for the rows of a batch, the distances from g of the gradients of the loss at the residuals minus and
// plus their rounding errors, the larger of both. Near kinks, and near 0 where the slope of a loss is steep, they are far
// larger than the relative error of the residual of a row.
func (p *Objective) changes(w *nearest.Worker, r, g []float64, from int) ([]float64, error) {
	f := p.sheet
	D, n := f.D, len(r)/f.D
	w.Ends = dense.Grow(w.Ends, 2*len(r)+n)
	ends, slopes, changes := w.Ends[:len(r)], w.Ends[len(r):2*len(r)], w.Ends[2*len(r):2*len(r)+n]
	clear(changes)
	for _, sign := range [2]float64{-1, 1} {
		for i := range n {
			at := r[i*D : (i+1)*D]
			around, _ := p.extent(at, w.Row(w.Z, f.M, i), from+i)
			rounding := sign * unitRoundoff * around / math.Sqrt(float64(D)) // of an entry
			for k, v := range at {
				ends[i*D+k] = v + rounding
			}
		}
		if err := p.evaluateLoss(nil, slopes, ends); err != nil {
			return nil, err
		}
		for i := range changes {
			changes[i] = max(changes[i], dense.Distance(slopes[i*D:(i+1)*D], g[i*D:(i+1)*D]))
		}
	}
	return changes, nil
}

// addRowTerms adds the terms of row i of a batch that begins at row from. The gradient of its loss has the given length,
// of which change is uncertain.
func (p *Objective) addRowTerms(w *nearest.Worker, t *GradientTerms, length, change float64, from, i int) {
	f := p.sheet
	tau := p.blocks[BlockTau].Row(p.at[BlockTau], from+i)
	f.Jacobian(w.Hess.E, tau)
	for k, by := range [NumBlocks]float64{
		BlockC: 1, BlockQ: dense.Norm(w.Row(w.Z, f.M, i)), BlockTheta: dense.Norm(w.Row(w.Phi, f.Q, i)), BlockTau: dense.Norm(w.Hess.E),
	} {
		t.Norms[k] += length * by
		t.Noise[k] += change * by
	}
	if prior := p.Prior.Of(p.data, from+i); prior != nil {
		slope := make([]float64, f.Latent)
		prior.AddGradient(slope, tau, p.data.Weight(from+i))
		t.Norms[BlockTau] += floats.Norm(slope, 2)
	}
}

// extent returns the largest norm among the terms of the residual of row i, and its norm.
func (p *Objective) extent(r, z []float64, i int) (around, resid float64) {
	x, c := p.data.Row(i), p.sheet.C
	if !p.data.Missing {
		return max(dense.Norm(z), dense.Distance(x, c)), dense.Norm(r)
	}
	for k, v := range x {
		if v == v { // is not missing
			resid += r[k] * r[k]
			around += (v - c[k]) * (v - c[k])
		}
	}
	return max(dense.Norm(z), math.Sqrt(around)), math.Sqrt(resid)
}
