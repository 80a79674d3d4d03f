package mean

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// Stationarity writes |sum w_i g_i| / sum w_i |g_i|, a number in [0, 1] that does
// not depend on scale, 0 where all gradients are. Where residuals are 0, on the
// kink of a loss, g_i are those subgradients that make the sum least.
//
// Where the problem was rounded, the gradients of the loss rounded over the last
// length serve if they make the number less: they are subgradients of the loss
// but for defects, and the number is no less than these together as a fraction
// of the objective.
func (p *Problem) Stationarity(dst []float64, x framework.Point) error {
	defer func(l framework.Loss) { p.loss = l }(p.loss)
	p.loss = p.plain
	plain, err := p.Evaluate(nil, x)
	if err != nil {
		return err
	}
	if dst[0], err = p.balance(x[0]); err != nil || p.rounded == nil || plain == 0 {
		return err
	}
	p.loss = p.rounded
	grad := framework.NewPoint(p.blocks)
	cost, err := p.Evaluate(grad, x)
	if err != nil {
		return err
	}
	var lengths float64
	for _, s := range p.sums {
		lengths += s.lengths
	}
	if lengths > 0 {
		dst[0] = min(dst[0], max(floats.Norm(grad[0], 2)/lengths, (plain-cost)/plain))
	}
	return nil
}

// besideKink is the size of a residual, relative to the typical one, at which the
// slope of a loss is that next to its kink.
const besideKink = 1e-12

// balance is the stationarity of the plain loss.
func (p *Problem) balance(c []float64) (float64, error) {
	typical, err := p.typical(c)
	if err != nil || typical == 0 {
		return 0, err
	}
	D := p.data.D
	length := D // of what vanishes at a kink
	if framework.StructureOf(p.loss) == framework.StructureSeparable {
		length = 1
	}
	slope, err := p.slopeAtKink(besideKink * typical)
	if err != nil {
		return 0, err
	}
	err = p.eachRow(c, func(w *worker, s *sums, from, to int) error {
		n := to - from
		if err := p.loss.Evaluate(nil, w.g[:n*D], w.r[:n*D], D); err != nil {
			return err
		}
		for i := range n {
			s.addBalance(w.r[i*D:(i+1)*D], w.g[i*D:(i+1)*D], p.weight(from+i), slope, length)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	grad, slack, lengths := make([]float64, D), make([]float64, D), 0.0
	for _, s := range p.sums {
		floats.Add(grad, s.grad)
		floats.Add(slack, s.weights)
		lengths += s.lengths
	}
	if lengths == 0 {
		return 0, nil
	}
	var left float64
	for k := 0; k < D; k += length {
		left = math.Hypot(left, max(0, floats.Norm(grad[k:k+length], 2)-slack[k]))
	}
	return left / lengths, nil
}

// addBalance adds a row: gradients where the residual is not 0, and elsewhere the
// lengths that subgradients can have.
func (s *sums) addBalance(r, g []float64, weight, slope float64, length int) {
	var size float64
	for k := 0; k < len(r); k += length {
		if floats.Norm(r[k:k+length], math.Inf(1)) == 0 {
			s.weights[k] += weight * slope
			size = math.Hypot(size, slope)
			continue
		}
		floats.AddScaled(s.grad[k:k+length], weight, g[k:k+length])
		size = math.Hypot(size, floats.Norm(g[k:k+length], 2))
	}
	s.lengths += weight * size
}

// slopeAtKink is the length of the gradient where one entry of a residual is eps
// and the others are 0; 0 for losses that do not say that they have kinks.
func (p *Problem) slopeAtKink(eps float64) (float64, error) {
	if _, ok := p.loss.(framework.Smoother); !ok {
		return 0, nil
	}
	r := make([]float64, p.data.D)
	r[0] = eps
	err := p.loss.Evaluate(nil, r, r, p.data.D)
	return math.Abs(r[0]), err
}
