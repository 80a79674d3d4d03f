package residuals

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
)

// convexTolerance is how far a defect may be below 0 by rounding, relative to its terms.
const convexTolerance = 1e-12

// multipliers are gradients g_i of a smoothed convex loss l_eps at residuals s_i. Near a kink they replace gradients
// at other residuals r_i. For all t,
//
//	l(t) >= l_eps(t) >= l_eps(s_i) + g_i'(t - s_i),
//
// so that g_i is a subgradient of l at r_i but for the defect l(r_i) - g_i'r_i - o_i with
// the offset o_i = l_eps(s_i) - g_i's_i.
//
// Of all points at which the loss smoothed over eps was differentiated, the one with the least gradient of the cost
// is kept.
type multipliers struct {
	best, latest slopes
	eps          float64 // of the best
}

// slopes are the gradients of a point.
type slopes struct {
	g       []float64 // w_i g_i, n x m
	offsets []float64 // w_i o_i
	norm    float64   // of the gradient of the cost, +Inf for none
}

func newMultipliers(n, m int) *multipliers {
	d := &multipliers{}
	for _, s := range []*slopes{&d.best, &d.latest} {
		*s = slopes{g: make([]float64, n*m), offsets: make([]float64, n), norm: math.Inf(1)}
	}
	return d
}

// note stores the weighted gradients of the rows of a shard. p must hold the residuals and values of a smoothed loss.
func (d *multipliers) note(p *problem, g []float64, lo, hi int) {
	if d == nil || !(p.eps > 0) {
		return
	}
	copy(d.latest.g[lo*p.m:hi*p.m], g)
	for i := lo; i < hi; i++ {
		d.latest.offsets[i] = p.weight(i)*p.values[i] - floats.Dot(g[(i-lo)*p.m:(i-lo+1)*p.m], p.r[i*p.m:(i+1)*p.m])
	}
}

// keep makes what note stored at x the best if its gradient of the cost is the least so far, or the first for this
// smoothing length.
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

// keptDefect writes the sum of J_i'g_i at x with the multipliers and returns the sum of their defects there, given
// the values of the loss itself in p. The sum is infinite if there are no multipliers, or if the loss is not convex,
// because a defect may then be negative.
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

// storedMultipliers is the stored state of a problem with kinks.
type storedMultipliers struct {
	G, Offsets     []float64 // nil for none
	Norm, Eps      float64
	First, Rounded float64 // the first and the last smoothing length, 0 for none
}

// MarshalState implements framework.Problem: the multipliers, and the lengths over
// which the loss was rounded.
func (a rounding) MarshalState() ([]byte, error) {
	p := a.p
	s := storedMultipliers{Norm: p.dual.best.norm, Eps: p.dual.eps, First: p.first, Rounded: p.last}
	if !math.IsInf(s.Norm, 1) {
		s.G, s.Offsets = p.dual.best.g, p.dual.best.offsets
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(s)
	return b.Bytes(), err
}

// UnmarshalState implements framework.Problem.
func (a rounding) UnmarshalState(state []byte) error {
	p := a.p
	var s storedMultipliers
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("residuals: %w", err)
	}
	if s.G != nil && (len(s.G) != p.n*p.m || len(s.Offsets) != p.n) {
		return fmt.Errorf("residuals: multipliers of %d entries for %d rows of %d: %w", len(s.G), p.n, p.m, rows.ErrInput)
	}
	p.dual = newMultipliers(p.n, p.m)
	p.dual.best.norm, p.dual.eps = s.Norm, s.Eps
	copy(p.dual.best.g, s.G)
	copy(p.dual.best.offsets, s.Offsets)
	p.first, p.last, p.rounded = s.First, s.Rounded, nil
	if p.last > 0 {
		p.rounded = p.plain.(framework.Smoother).Smooth(p.last)
	}
	return nil
}
