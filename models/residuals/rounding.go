package residuals

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// rounding is what a problem whose loss has kinks offers beyond the others.
type rounding struct{ p *problem }

func newRounding(p *problem) rounding {
	p.dual = newMultipliers(p.n, p.m)
	return rounding{p}
}

// fitting is the size of a residual, relative to the largest one, below which it counts as zero: a start may fit most
// rows up to rounding.
const fitting = 1e-6

// SmoothingScale returns the median size of the residuals that are not zero: of their
// norms where the loss is radial, else of their entries.
func (a rounding) SmoothingScale(x framework.Point) (float64, error) {
	p := a.p
	if err := p.moveTo(x); err != nil {
		return 0, err
	}
	length := 1
	if _, radial := p.plain.(framework.Radial); radial {
		length = p.m
	}
	var sizes []float64
	for i := 0; i < len(p.r); i += length {
		if size := floats.Norm(p.r[i:i+length], 2); size > 0 && p.weight(i/p.m) > 0 {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		return 0, nil
	}
	slices.Sort(sizes)
	zero, _ := slices.BinarySearch(sizes, fitting*sizes[len(sizes)-1])
	sizes = sizes[zero:]
	return sizes[len(sizes)/2], nil
}

// Smooth evaluates the problem with the loss rounded over eps from now on, 0 with the
// loss itself.
func (a rounding) Smooth(eps float64) {
	if a.p.eps = eps; eps == 0 {
		a.p.loss = a.p.plain
		return
	}
	a.p.first, a.p.last = math.Max(a.p.first, eps), eps
	a.p.rounded = a.p.plain.(framework.Smoother).Smooth(eps)
	a.p.loss = a.p.rounded
}

// Differentiable reports whether the loss has a gradient at its kinks.
func (a rounding) Differentiable() bool {
	s, ok := a.p.plain.(rowloss.PowerSum)
	return ok && s.Power() > 1
}

// Stationarity implements framework.Certifier; see [New].
func (a rounding) Stationarity(dst []float64, x framework.Point) error {
	p := a.p
	defer func(l framework.Loss, eps float64) { p.loss, p.eps = l, eps }(p.loss, p.eps)
	p.loss, p.eps = p.plain, 0
	plain, err := p.Evaluate(nil, x)
	if err != nil {
		return err
	}
	if plain == 0 { // losses are at least 0
		clear(dst)
		return nil
	}
	grad := framework.NewPoint(p.blocks)
	if err := p.Resume(grad); err != nil {
		return err
	}
	lengths, err := p.gradientLengths(x)
	if err != nil {
		return err
	}
	p.balance(dst, x, grad, lengths)
	if p.vanishes(plain, x, lengths) {
		clear(dst)
		return nil
	}
	if p.rounded == nil {
		return nil
	}
	whole, err := p.costAt(p.first)
	if err != nil {
		return err
	}
	unit := math.Max(plain, whole)
	for _, measure := range []func(grad, x framework.Point, plain float64) (float64, error){p.keptDefect, p.defectAt} {
		defect, err := measure(grad, x, plain)
		if err != nil {
			return err
		}
		rounded := make([]float64, len(dst))
		p.balance(rounded, x, grad, lengths)
		for k := range dst {
			dst[k] = math.Min(dst[k], math.Max(rounded[k], defect/unit))
		}
	}
	return nil
}

// defectAt writes the gradient of the smoothed cost at x and returns the decrease of the cost by smoothing.
func (p *problem) defectAt(grad, x framework.Point, plain float64) (float64, error) {
	defer func(d *multipliers) { p.dual, p.loss = d, p.plain }(p.dual)
	p.dual, p.loss = nil, p.rounded // the latest ones stay
	cost, err := p.Evaluate(grad, x)
	return plain - cost, err
}

// vanishes reports whether the cost is no larger than rounding errors of x allow for a zero cost, to first order.
func (p *problem) vanishes(cost float64, x framework.Point, lengths []float64) bool {
	var noise float64
	for k, b := range p.blocks {
		size := floats.Norm(x[k], 2)
		if _, own := b.Manifold.(framework.Metric); own { // which makes the size of x 1
			size = math.Sqrt(float64(b.Size()))
		}
		noise += 0x1p-42 * size * lengths[k]
	}
	return cost <= noise
}

// costAt returns the cost if one entry of each row has the given size and the others are 0.
func (p *problem) costAt(size float64) (float64, error) {
	r, value := make([]float64, p.m), []float64{0}
	r[0] = size
	if err := p.plain.Evaluate(value, nil, r, p.m); err != nil {
		return 0, p.lossError(err)
	}
	if p.weights == nil {
		return value[0] * float64(p.n), nil
	}
	return value[0] * floats.Sum(p.weights), nil
}

// gradientLengths returns sum w_i |J_i'g_i| for every block, for the gradients that
// were evaluated last.
func (p *problem) gradientLengths(x framework.Point) ([]float64, error) {
	shards := make([][]float64, len(p.sums))
	err := p.eachShard(func(s, lo, hi int) error {
		shards[s] = make([]float64, len(p.blocks))
		for i := lo; i < hi; i++ {
			p.sums[s].Zero()
			if err := p.jacobian.AddTransposedProduct(p.sums[s], x, p.g[i*p.m:(i+1)*p.m], i, i+1); err != nil {
				return err
			}
			for k, b := range p.blocks {
				shards[s][k] += gradientNorm(b, x[k], p.sums[s][k])
			}
		}
		return nil
	})
	lengths := make([]float64, len(p.blocks))
	for _, s := range shards {
		if err == nil {
			floats.Add(lengths, s)
		}
	}
	return lengths, err
}

// balance writes the norm of the gradient relative to the lengths, at most 1; 0 if both are 0. It overwrites grad.
func (p *problem) balance(dst []float64, x, grad framework.Point, lengths []float64) {
	for k, b := range p.blocks {
		dst[k] = 0
		if lengths[k] > 0 {
			dst[k] = math.Min(1, gradientNorm(b, x[k], grad[k])/lengths[k])
		}
	}
}

// gradientNorm is the norm of the Riemannian gradient that belongs to the Euclidean
// one g, which it overwrites. Copies whose gradient is 0 take no time.
func gradientNorm(b framework.Block, x, g []float64) float64 {
	one := framework.Block{Name: b.Name, Manifold: b.Manifold}
	var norm float64
	for i := range b.Rows() {
		part, at := b.Row(g, i), b.Row(x, i)
		if floats.Norm(part, math.Inf(1)) > 0 {
			one.Gradient(part, at, part)
			norm = math.Hypot(norm, one.Norm(at, part))
		}
	}
	return norm
}
