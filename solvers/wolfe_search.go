package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	// outsideShrink shortens a step at which the cost is not finite.
	outsideShrink = 1. / 16
	// minSection and maxSection bound an interpolated step within its bracket. One from costs is a multiple of
	// sectionUnit, so that rounding errors of constants in the costs do not change the iterates; costs of a
	// [framework.Certifier] have no such constants.
	minSection, maxSection, sectionUnit = 0.1, 0.9, 0x1p-8
	// firstTrials multiplies the maximal number of trials of a search without a known step length.
	firstTrials = 4
)

// wolfeSearch is a line search for a step t along a direction d of negative slope
// that satisfies the weak Wolfe conditions
//
//	F(R(t d)) <= F + c1 t <g,d>,  <g(t), d> >= c2 <g,d>,
//
// with g the gradient at the start and g(t) that at the trial. Where the decrease
// that the slope predicts is lost in the rounding of the costs, the first one is
// replaced by the approximate one of Hager and Zhang, which the derivatives
// decide:
//
//	<g(t), d> <= (2 c1 - 1) <g,d>,  F(R(t d)) <= F + rounding.
//
// It keeps a bracket of a step that is too short and one that is too long. New
// trials bisect it, or double the step where there is none, which needs no
// smoothness; with secant they are where the slope vanishes by linear
// interpolation.
//
// Sources: A. S. Lewis and M. L. Overton, Nonsmooth optimization via
// quasi-Newton methods, Math. Program. 141 (2013); W. W. Hager and H. Zhang, A
// new conjugate gradient method with guaranteed descent and an efficient line
// search, SIAM J. Optim. 16 (2005).
type wolfeSearch struct {
	c1, c2 float64
	trials int
	secant bool
	// unit is the unit of interpolated steps found from costs, 0 for none.
	unit float64
}

// line is the memory of a line search: the direction, and points along it.
type line struct {
	trial, kept trialPoint
	dir, work   framework.Point
}

// trialPoint is the point at a step along the direction, with its cost, its
// Riemannian gradient and the slope there.
type trialPoint struct {
	x, grad           framework.Point
	euclidean         framework.Point // the gradient of the surrounding space, nil unless kept
	step, cost, slope float64
}

func (l *line) allocate(blocks []framework.Block) {
	if l.dir != nil {
		return
	}
	l.dir, l.work = framework.NewPoint(blocks), framework.NewPoint(blocks)
	for _, t := range []*trialPoint{&l.trial, &l.kept} {
		t.x, t.grad = framework.NewPoint(blocks), framework.NewPoint(blocks)
	}
}

// keepEuclidean lets trials keep the gradients of the surrounding space.
func (l *line) keepEuclidean(blocks []framework.Block) {
	for _, t := range []*trialPoint{&l.trial, &l.kept} {
		if t.euclidean == nil {
			t.euclidean = framework.NewPoint(blocks)
		}
	}
}

// unscaledStep is the first step along the negative gradient, for a given slope, where no length is known: that
// after which a linear cost vanishes, where the problem is a [framework.Certifier], so that steps have the unit
// of the data. The cost of another may have an additive constant: then a move of unit length.
func unscaledStep(e *framework.Evaluator, cost, slope float64) float64 {
	if _, zero := framework.As[framework.Certifier](e.Problem()); zero {
		return polyak(cost, -slope)
	}
	return 1 / math.Sqrt(-slope)
}

// find looks for a step from x, where the cost and the slope along dir are given,
// beginning with first, and leaves the point in trial. Where only the first
// condition could be met, it takes the longest such step.
//
// A problem that resumes is asked for the gradient of a trial only once its
// cost is low enough.
func (a wolfeSearch) find(e *framework.Evaluator, l *line, x framework.Point, cost, slope, first float64) (bool, error) {
	_, resumes := framework.As[resumer](e.Problem())
	if _, zero := framework.As[framework.Certifier](e.Problem()); !zero {
		a.unit = sectionUnit
	}
	lo, hi, t := trialPoint{cost: cost, slope: slope}, trialPoint{step: math.Inf(1), slope: math.NaN()}, first
	for range a.trials {
		ok, err := l.try(e, x, t, !resumes)
		if err != nil {
			return false, err
		}
		shrink := 0.5
		switch {
		case !ok:
			hi, shrink = trialPoint{step: t, slope: math.NaN()}, outsideShrink
		case !a.low(l.trial.cost, cost, t, slope):
			hi = trialPoint{step: t, slope: math.NaN(), cost: l.trial.cost}
		default:
			if err := l.endSlope(e, x, resumes); err != nil {
				return false, err
			}
			if a.pastMinimum(l.trial.slope, cost, t, slope) {
				hi = trialPoint{step: t, slope: l.trial.slope, cost: l.trial.cost}
				break
			}
			if l.trial.slope >= a.c2*slope {
				return true, nil
			}
			lo = trialPoint{step: t, slope: l.trial.slope, cost: l.trial.cost}
			l.trial, l.kept = l.kept, l.trial
		}
		if t = a.next(lo, hi, shrink); !(t > lo.step && t < hi.step) {
			break
		}
	}
	l.trial, l.kept = l.kept, l.trial
	return lo.step > 0, nil
}

// low reports whether the cost of the trial at step t is low enough.
func (a wolfeSearch) low(trial, cost, t, slope float64) bool {
	predicted := -t * slope
	if predicted <= nearRounding*math.Abs(cost) {
		return trial <= cost+costNoise*math.Abs(cost)
	}
	return trial <= cost-a.c1*predicted && trial < cost
}

// pastMinimum reports whether the slope at step t shows it to be too long, where rounding dominates the costs.
func (a wolfeSearch) pastMinimum(end, cost, t, slope float64) bool {
	return -t*slope <= nearRounding*math.Abs(cost) && end > (2*a.c1-1)*slope
}

// next is the step to try after those at the ends of the bracket.
func (a wolfeSearch) next(lo, hi trialPoint, shrink float64) float64 {
	if math.IsInf(hi.step, 1) {
		return 2 * lo.step
	}
	width := hi.step - lo.step
	if !a.secant || shrink != 0.5 {
		return lo.step + shrink*width
	}
	// The minimum of the parabola through the slope at lo and what is known at hi.
	at := 0.5
	if !math.IsNaN(hi.slope) {
		at = -lo.slope / (hi.slope - lo.slope)
	} else if rise := hi.cost - lo.cost - lo.slope*width; rise > 0 {
		at = -lo.slope * width / (2 * rise)
		if a.unit > 0 {
			at = math.Round(at/a.unit) * a.unit
		}
	}
	return lo.step + math.Min(math.Max(at, minSection), maxSection)*width
}

// walk moves from x along v: on manifolds with their own metric along the geodesic where it is known. Only
// there the slope is that along the transported direction, even far from x.
func walk(b framework.Block, dst, x, v []float64) error {
	if _, ok := b.Manifold.(framework.Metric); ok {
		if _, ok := b.Manifold.(framework.Exper); ok {
			return b.Exp(dst, x, v)
		}
	}
	return b.Retract(dst, x, v)
}

// try evaluates the trial at step t from x, with its gradient if asked to, and
// reports whether it is a point of finite cost.
func (l *line) try(e *framework.Evaluator, x framework.Point, t float64, gradient bool) (bool, error) {
	for k, b := range e.Blocks() {
		floats.ScaleTo(l.work[k], t, l.dir[k])
		if walk(b, l.trial.x[k], x[k], l.work[k]) != nil {
			return false, nil
		}
	}
	l.trial.step = t
	var grad framework.Point
	if gradient {
		grad = l.trial.grad
	}
	cost, err := e.Evaluate(grad, l.trial.x)
	l.trial.cost = cost
	return err == nil && !math.IsInf(cost, 0), err
}

// endSlope completes the gradient at the trial and its slope along dir.
func (l *line) endSlope(e *framework.Evaluator, x framework.Point, missing bool) error {
	t := &l.trial
	if missing {
		if _, err := e.Gradient(t.grad, t.x); err != nil {
			return err
		}
	}
	if t.euclidean != nil {
		t.euclidean.CopyFrom(t.grad)
	}
	t.slope = 0
	for k, b := range e.Blocks() {
		b.Gradient(t.grad[k], t.x[k], t.grad[k])
		d := l.dir[k]
		if _, ok := b.Manifold.(framework.Metric); ok {
			d = l.work[k]
			b.Transport(d, x[k], t.x[k], l.dir[k])
		}
		t.slope += b.Inner(t.x[k], t.grad[k], d)
	}
	return nil
}
