package residuals

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// convexTolerance is how far, relative to its terms, a defect may be below 0 by rounding.
const convexTolerance = 1e-12

// multipliers are gradients g_i of a rounded convex loss l_eps at residuals s_i. Near a
// kink they take the place of gradients at other residuals r_i: for all t
//
//	l(t) >= l_eps(t) >= l_eps(s_i) + g_i'(t - s_i),
//
// so that g_i is a subgradient of l at r_i but for the defect l(r_i) - g_i'r_i - o_i with
// the offset o_i = l_eps(s_i) - g_i's_i.
//
// Kept are those, of all points at which the loss rounded over eps was differentiated,
// whose gradient of the cost is the least.
type multipliers struct {
	best, latest slopes
	eps          float64 // of the best
}

// slopes are the gradients of a point.
type slopes struct {
	g       []float64 // w_i g_i, n x m
	offsets []float64 // w_i o_i
	norm    float64   // of the gradient of the cost, +Inf where there are none
}

func newMultipliers(n, m int) *multipliers {
	d := &multipliers{}
	for _, s := range []*slopes{&d.best, &d.latest} {
		*s = slopes{g: make([]float64, n*m), offsets: make([]float64, n), norm: math.Inf(1)}
	}
	return d
}

// note stores the gradients of the rows of a shard, times their weights, where p holds
// the residuals and values of a rounded loss.
func (d *multipliers) note(p *problem, g []float64, lo, hi int) {
	if d == nil || !(p.eps > 0) {
		return
	}
	copy(d.latest.g[lo*p.m:hi*p.m], g)
	for i := lo; i < hi; i++ {
		d.latest.offsets[i] = p.weight(i)*p.values[i] - floats.Dot(g[(i-lo)*p.m:(i-lo+1)*p.m], p.r[i*p.m:(i+1)*p.m])
	}
}

// keep takes what note has stored at x for the best if the gradient of the cost, which
// it has made, is the least so far, or the first for this rounding.
func (d *multipliers) keep(p *problem, grad, x framework.Point) {
	if d == nil || !(p.eps > 0) {
		return
	}
	d.latest.norm = 0
	for k, b := range p.blocks {
		if grad[k] == nil {
			return
		}
		d.latest.norm = math.Hypot(d.latest.norm, gradientNorm(b, x[k], slices.Clone(grad[k])))
	}
	if d.latest.norm < d.best.norm || p.eps != d.eps {
		d.best, d.latest, d.eps = d.latest, d.best, p.eps
	}
}

// keptDefect writes the sum of J_i'g_i at x with the multipliers and returns the sum
// of their defects there, for the values of the loss itself that p holds. It is infinite
// where there are none, or where the loss is not convex: then a defect may be negative.
func (p *problem) keptDefect(grad, x framework.Point, _ float64) (float64, error) {
	best := &p.dual.best
	if math.IsInf(best.norm, 1) {
		return math.Inf(1), nil
	}
	if err := p.differentiateAt(x); err != nil {
		return 0, err
	}
	var sum float64
	for i, o := range best.offsets {
		value := p.weight(i) * p.values[i]
		at := floats.Dot(best.g[i*p.m:(i+1)*p.m], p.r[i*p.m:(i+1)*p.m]) + o
		if value-at < -convexTolerance*(math.Abs(at)+p.first*floats.Norm(best.g[i*p.m:(i+1)*p.m], 2)) {
			return math.Inf(1), nil
		}
		sum += math.Max(0, value-at)
	}
	err := p.sum(grad, func(s, lo, hi int) error {
		return p.jacobian.AddTransposedProduct(p.sums[s], x, best.g[lo*p.m:hi*p.m], lo, hi)
	})
	return sum, err
}
