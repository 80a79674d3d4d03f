package mean

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// Stationarity writes |sum w_i g_i| / sum w_i |g_i|, a scale-free number in [0, 1]. It is 0 if all gradients are. For
// zero residuals, at the kink of a loss, g_i is the subgradient that makes the sum least.
//
// If the problem was smoothed, the gradients of the loss smoothed over the last length are used if they give a
// smaller number. They are subgradients of the loss up to defects. The number is at least the sum of the defects as a
// fraction of the objective.
//
// If the loss is a sum over entries, this is done for every column separately, as each may have its own unit, and the
// largest number counts.
func (p *Problem) Stationarity(dst []float64, x framework.Point) error {
	defer func(l framework.Loss) { p.loss = l }(p.loss)
	p.loss = p.plain
	plain, err := p.Evaluate(nil, x)
	if err != nil {
		return err
	}
	dst[0] = 0
	parts, err := p.balance(x[0])
	if err != nil || parts == nil {
		return err
	}
	if p.rounded != nil && plain > 0 {
		if err := p.balanceRounded(parts, x, plain); err != nil {
			return err
		}
	}
	dst[0] = slices.Max(parts)
	return nil
}

// balanceRounded replaces the stationarities of the plain loss, with the given cost, by those of the smoothed loss if
// these are smaller.
func (p *Problem) balanceRounded(parts []float64, x framework.Point, plain float64) error {
	p.loss = p.rounded
	grad := framework.NewPoint(p.blocks)
	cost, err := p.Evaluate(grad, x)
	if err != nil {
		return err
	}
	step := p.data.D / len(parts)
	for k := range parts {
		var length float64
		for _, s := range p.sums {
			length += s.lengths[k]
		}
		if length > 0 {
			part := floats.Norm(grad[0][k*step:(k+1)*step], 2)
			parts[k] = min(parts[k], max(part/length, (plain-cost)/plain))
		}
	}
	return nil
}

// besideKink is the size of a residual, relative to the typical one, at which the slope of a loss counts as the slope
// at its kink.
const besideKink = 1e-12

// balance returns the stationarities of the plain loss, one for each part of the mean; nil if all residuals are zero.
func (p *Problem) balance(c []float64) ([]float64, error) {
	typical, err := p.typical(c)
	if err != nil || typical == 0 {
		return nil, err
	}
	D := p.data.D
	step := D / p.parts() // the length of what vanishes at a kink
	slope, err := p.slopeAtKink(besideKink * typical)
	if err != nil {
		return nil, err
	}
	err = p.eachRow(c, func(w *worker, s *sums, from, to int) error {
		n := to - from
		if err := p.loss.Evaluate(nil, w.g[:n*D], w.r[:n*D], D); err != nil {
			return err
		}
		for i := range n {
			s.addBalance(w.r[i*D:(i+1)*D], w.g[i*D:(i+1)*D], p.data.Weight(from+i), slope, step)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	parts, grad := make([]float64, p.parts()), make([]float64, step)
	for k := range parts {
		var slack, length float64
		clear(grad)
		for _, s := range p.sums {
			floats.Add(grad, s.grad[k*step:(k+1)*step])
			slack += s.slack[k*step]
			length += s.lengths[k]
		}
		if length > 0 {
			parts[k] = max(0, floats.Norm(grad, 2)-slack) / length
		}
	}
	return parts, nil
}

// addBalance adds a row: gradients for nonzero residuals, and otherwise the largest lengths of subgradients.
func (s *sums) addBalance(r, g []float64, weight, slope float64, step int) {
	for k := 0; k < len(r); k += step {
		if floats.Norm(r[k:k+step], math.Inf(1)) == 0 {
			s.slack[k] += weight * slope
			s.lengths[k/step] += weight * slope
			continue
		}
		floats.AddScaled(s.grad[k:k+step], weight, g[k:k+step])
		s.lengths[k/step] += weight * floats.Norm(g[k:k+step], 2)
	}
}

// slopeAtKink is the length of the gradient if one entry of a residual is eps and the others are 0; 0 for losses that
// declare no kinks.
func (p *Problem) slopeAtKink(eps float64) (float64, error) {
	if _, ok := p.loss.(framework.Smoother); !ok {
		return 0, nil
	}
	r := make([]float64, p.data.D)
	r[0] = eps
	err := p.loss.Evaluate(nil, r, r, p.data.D)
	return math.Abs(r[0]), err
}
