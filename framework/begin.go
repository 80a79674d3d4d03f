package framework

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

const (
	// slopeStep is the step length, relative to max(1, |x|), over which the gradient is compared with differences of
	// costs. slopeGrowth is the factor between successive longer steps.
	slopeStep, slopeGrowth = 0x1p-22, 0x1p4
	// sameSlope is the largest difference of two slopes that agree, relative to the largest slope.
	sameSlope = 1e-2
	// ownBend is the largest fraction of a difference of slopes that may be due to curvature or a kink.
	ownBend = 0.25
	// slopeRounding is the relative rounding error of a cost in such a comparison.
	slopeRounding = 0x1p-46
	// manyPlaces is a step length in units of the last place. A point within such a step of a stationary point counts
	// as stationary.
	manyPlaces = 0x1p-44
	// noSlope is the relative change of the cost over a distance of max(1, |x|) below which a start may be stationary
	// to rounding.
	noSlope = 1e-12
	// mostSquared is the largest gradient norm that solvers use without rescaling.
	mostSquared = 1e100
	// farAway is a distance from the start, and deepDown a cost, in units of the start, beyond which the cost counts
	// as unbounded below.
	farAway, deepDown = 1e15, 1e100
)

// validate rejects a problem, start or options that cannot be run.
func validate(ctx context.Context, p Problem, s Solver) error {
	switch {
	case ctx == nil:
		return fmt.Errorf("framework: %w: the context is nil", ErrInvalid)
	case p == nil:
		return fmt.Errorf("framework: %w: the problem is nil", ErrInvalid)
	case s == nil:
		return fmt.Errorf("framework: %w: the solver is nil; take that of solvers.Auto", ErrInvalid)
	}
	var blocks []Block
	if err := guard(func() error { blocks = p.Blocks(); return nil }); err != nil {
		return fmt.Errorf("framework: %w", err)
	}
	if len(blocks) == 0 {
		return fmt.Errorf("framework: %w: the problem has no blocks", ErrInvalid)
	}
	named := map[string]bool{}
	for k, b := range blocks {
		switch {
		case b.Manifold == nil:
			return fmt.Errorf("framework: %w: block %d (%q) has no manifold", ErrInvalid, k, b.Name)
		case named[b.Name]:
			return fmt.Errorf("framework: %w: two blocks have the name %q", ErrInvalid, b.Name)
		}
		if err := validateSize(b.Manifold); err != nil {
			return fmt.Errorf("framework: %w: block %d (%q): %w", ErrInvalid, k, b.Name, err)
		}
		named[b.Name] = true
	}
	return nil
}

// validateSize rejects manifolds with an invalid dimension, or whose methods for it panic.
func validateSize(m Manifold) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	if size, dim := m.Size(), m.Dim(); dim < 0 || dim > size {
		return fmt.Errorf("%v has size %d and dimension %d", m, size, dim)
	}
	return nil
}

// measure finds the unit of the gradient, which is its norm at the start, and compares the gradient with the cost. A
// problem with its own measure of stationarity has its own unit.
func (r *run) measure() error {
	r.unit = 1
	if r.certified() || r.evaluator.admit(0) != nil {
		return nil
	}
	x, cost := r.state.Iterate()
	r.span = math.Max(1, x.Norm())
	blocks, grad := Product(r.evaluator.blocks), NewPoint(r.evaluator.blocks)
	if g, ok := r.state.(graded); ok && g.Gradient() != nil {
		grad.CopyFrom(g.Gradient())
	} else if err := r.evaluator.gradientAt(grad, x); err != nil {
		return r.evaluator.failure(err)
	}
	steepest := 0.0
	for k, b := range blocks {
		steepest = math.Max(steepest, b.Norm(x[k], grad[k]))
	}
	switch {
	case r.options.GradientUnit > 0:
		r.unit = r.options.GradientUnit
	case steepest > 0 && !math.IsInf(steepest, 0):
		r.unit = steepest
	}
	if steepest*r.span <= noSlope*math.Abs(cost) && r.options.GradientUnit == 0 {
		if change, ok := r.stationaryToRounding(x); ok && change > 0 {
			r.unit = change / manyPlaces // the gradient at a distance of |x|
		}
	}
	return r.compare(x, grad, cost)
}

// extreme returns the power of two that scales the gradient at the start to about 1 if its square or inverse square
// overflows, and 1 otherwise.
func (r *run) extreme() float64 {
	ordinary := r.unit <= mostSquared && r.unit >= 1/mostSquared
	if r.certified() || ordinary || r.by != 1 || r.options.Checkpoint != nil || r.options.GradientUnit != 0 {
		return 1
	}
	_, exponent := math.Frexp(r.unit)
	return math.Ldexp(1, -exponent)
}

// scaled is a problem with its cost in another unit, without capabilities.
type scaled struct {
	Problem
	by float64
}

// Evaluate implements [Problem].
func (p scaled) Evaluate(grad, x Point) (float64, error) {
	cost, err := p.Problem.Evaluate(grad, x)
	grad.Scale(p.by)
	return cost * p.by, err
}

// gradientAt writes the Riemannian gradient at x. It does not count towards the budget.
func (e *Evaluator) gradientAt(dst, x Point) error {
	e.lastValid = false
	e.counts.Passes += 2
	if _, err := e.call(dst, x); err != nil {
		return err
	}
	Product(e.blocks).Gradient(dst, x, dst)
	return nil
}

// compare checks the gradient at x against differences of the cost, and records a mismatch. It usually costs one
// evaluation without a gradient, and more if the first one is inconclusive.
func (r *run) compare(x, grad Point, cost float64) error {
	e := r.evaluator
	e.lastValid = false
	c := &comparison{e: e, x: x, cost: cost, grad: grad, steepest: Product(e.blocks).Norm(x, grad), at: NewPoint(e.blocks), step: NewPoint(e.blocks)}
	if math.IsNaN(c.steepest) || math.IsInf(c.steepest, 0) {
		return nil
	}
	down, random, both := grad.Clone(), NewPoint(e.blocks), NewPoint(e.blocks)
	if c.steepest > 0 {
		down.Scale(1 / c.steepest)
	}
	signs(random, e.blocks, x)
	if n := Product(e.blocks).Norm(x, random); n > 0 {
		random.Scale(1 / n)
	}
	both.CopyFrom(down)
	both.AddScaled(1, random)
	size := slopeStep * math.Max(1, x.Norm())
	forward, err := c.costAt(both, size)
	switch {
	case errors.Is(err, ErrPanic):
		return fmt.Errorf("asked for the cost alone (the gradient is nil): %w", err)
	case err != nil:
		return nil // wherever that is, the run need not go there
	}
	slope := c.slope(both)
	if math.Abs((forward-cost)/size-slope) <= sameSlope*c.steepest {
		return nil
	}
	if c.steepest == 0 {
		if told, wrong := c.differs(random); wrong {
			r.mistake = fmt.Sprintf("the gradient is not that of the cost: it is 0 where the cost changes by %.4g per unit of length", told)
		}
		return nil
	}
	told, wrong := c.differs(down)
	toldToo, wrongToo := c.differs(random)
	switch ratio, other := c.slope(down)/told, c.slope(random)/toldToo; {
	case !wrong && !wrongToo:
	case wrong && wrongToo && math.Abs(ratio-other) <= sameSlope*math.Abs(ratio) && math.Abs(ratio+1) <= sameSlope:
		r.mistake = "the gradient has the wrong sign"
	case wrong && wrongToo && math.Abs(ratio-other) <= sameSlope*math.Abs(ratio):
		r.mistake = fmt.Sprintf("the gradient is %.4g times that of the cost", ratio)
	case wrong:
		r.mistake = fmt.Sprintf("the gradient is not that of the cost: along it the cost changes by %.4g per unit of length, not by %.4g", told, c.slope(down))
	default:
		r.mistake = fmt.Sprintf("some entries of the gradient are not those of the cost: along a direction it changes by %.4g per unit of length, not by %.4g", toldToo, c.slope(random))
	}
	return nil
}

// compareAt does what compare does, at the point of a result.
func (r *run) compareAt(x Point, cost float64) error {
	if r.certified() || r.evaluator.admit(0) != nil {
		return nil
	}
	grad := NewPoint(r.evaluator.blocks)
	if err := r.evaluator.gradientAt(grad, x); err != nil {
		return err
	}
	return r.compare(x, grad, cost)
}

// comparison compares slopes at a point.
type comparison struct {
	e              *Evaluator
	x, grad        Point
	cost, steepest float64 // steepest is the norm of the gradient
	at, step       Point
}

func (c *comparison) slope(v Point) float64 { return Product(c.e.blocks).Inner(c.x, c.grad, v) }

// costAt returns the cost at R(t v), without a gradient. It counts the pass but no evaluation.
func (c *comparison) costAt(v Point, t float64) (cost float64, err error) {
	c.step.CopyFrom(v)
	c.step.Scale(t)
	if err := Product(c.e.blocks).Retract(c.at, c.x, c.step); err != nil {
		return 0, err
	}
	c.e.counts.Passes++
	err = guard(func() (err error) { cost, err = c.e.call(nil, c.at); return err })
	return cost, err
}

// differs reports whether the slope of the cost along v clearly differs from that of the gradient, and returns the
// former. It requires that central differences over two lengths agree with each other but not with the gradient, and
// that neither rounding nor a kink can be the reason.
func (c *comparison) differs(v Point) (slope float64, wrong bool) {
	last, size := math.NaN(), slopeStep*math.Max(1, c.x.Norm())
	for range 4 {
		up, err := c.costAt(v, size)
		down, err2 := c.costAt(v, -size)
		if err != nil || err2 != nil {
			return 0, false
		}
		slope = (up - down) / (2 * size)
		off := math.Abs(slope - c.slope(v))
		rounding := slopeRounding * math.Abs(c.cost) / size
		bend := math.Abs(up+down-2*c.cost) / (2 * size)
		switch {
		case off <= sameSlope*c.steepest+rounding:
			return slope, false
		case rounding > ownBend*off || bend > ownBend*off:
			last = math.NaN()
		case math.Abs(slope-last) <= ownBend*off:
			return slope, true
		default:
			last = slope
		}
		size *= slopeGrowth
	}
	return slope, false
}

// signs fills dst with random entries 1 and -1, and projects it onto the tangent space.
func signs(dst Point, blocks []Block, x Point) {
	rng := rand.New(rand.NewPCG(1, 0))
	for k, b := range blocks {
		for i := range dst[k] {
			dst[k][i] = math.Copysign(1, rng.Float64()-0.5)
		}
		b.Project(dst[k], x[k], dst[k])
	}
}

// stationaryToRounding reports whether the gradient at x is as small as the change of the gradient when x moves by a
// few units in the last place. It also returns the size of this change.
func (r *run) stationaryToRounding(x Point) (float64, bool) {
	e := r.evaluator
	if r.certified() || e.admit(0) != nil || r.mistake != "" || r.options.Tolerance < 0 {
		return 0, false
	}
	blocks := Product(e.blocks)
	at, move, grads := NewPoint(blocks), NewPoint(blocks), [2]Point{NewPoint(blocks), NewPoint(blocks)}
	signs(move, blocks, x)
	if n := move.Norm(); n > 0 {
		move.Scale(manyPlaces * x.Norm() / n)
	}
	if blocks.Retract(at, x, move) != nil {
		return 0, false
	}
	for j, y := range []Point{x, at} {
		if e.gradientAt(grads[j], y) != nil {
			return 0, false
		}
	}
	change, norm := 0.0, 0.0
	for k, b := range blocks {
		norm = math.Max(norm, b.Norm(x[k], grads[0][k]))
		b.Project(grads[1][k], x[k], grads[1][k])
		for i, g := range grads[0][k] {
			grads[1][k][i] -= g
		}
		change = math.Max(change, b.Norm(x[k], grads[1][k]))
	}
	if norm > change {
		return 0, false
	}
	return change, true
}

// unbounded reports whether the cost falls without bound.
func (r *run) unbounded() bool {
	if r.certified() {
		return false
	}
	x, cost := r.state.Iterate()
	start := r.startCost()
	deep := -cost > deepDown*math.Max(math.Abs(start), r.unit*r.span)
	return cost < start && (deep || x.Norm() > farAway*r.span)
}
