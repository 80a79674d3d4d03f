package solvers

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	// minSection and maxSection bound an interpolated step within its bracket. A step interpolated from costs is
	// rounded to a multiple of sectionUnit, so that rounding errors due to constants in the costs do not change the
	// iterates. Costs of a [framework.Certifier] have no such constants.
	minSection, maxSection, sectionUnit = 0.1, 0.9, 0x1p-8
	// firstTrials multiplies the maximal number of trials of a search without a known step length.
	firstTrials = 4
)

// Armijo halves a step until
//
//	F(R(t d)) <= F + C1 t <g,d>,
//
// with g the gradient at the start. It evaluates costs only. Use it for directions whose natural
// step length is 1, such as those of Newton's method.
type Armijo struct {
	// C1 and MaxTrials; 0 stands for 1e-4 and 30.
	C1        float64
	MaxTrials int
}

// Search implements [framework.LineSearch].
func (a Armijo) Search(at func(float64, bool) (float64, float64, error), cost, slope, first float64) (float64, error) {
	return a.search().Search(at, cost, slope, first)
}

func (a Armijo) search() wolfeSearch {
	return wolfeSearch{c1: cmp.Or(a.C1, armijoConstant), trials: cmp.Or(a.MaxTrials, mostTrials), costsOnly: true}
}

// StrongWolfe searches a step that satisfies the condition of [Armijo] and
//
//	|<g(t), d>| <= C2 |<g,d>|,
//
// with g(t) the gradient at the trial. Nonlinear conjugate gradients need this condition.
type StrongWolfe struct {
	// C1, C2 and MaxTrials, with 0 < C1 < C2 < 1; 0 stands for 1e-4, .9 and 30.
	C1, C2    float64
	MaxTrials int
}

// Search implements [framework.LineSearch].
func (a StrongWolfe) Search(at func(float64, bool) (float64, float64, error), cost, slope, first float64) (float64, error) {
	return a.search().Search(at, cost, slope, first)
}

func (a StrongWolfe) search() wolfeSearch {
	s := HagerZhang(a).search()
	s.strong = true
	return s
}

// HagerZhang searches a step that satisfies the weak Wolfe conditions
//
//	F(R(t d)) <= F + C1 t <g,d>,  <g(t), d> >= C2 <g,d>.
//
// If the predicted decrease is smaller than the rounding error of the costs, the first condition is replaced by the
// approximate one of Hager and Zhang, which uses derivatives:
//
//	<g(t), d> <= (2 C1 - 1) <g,d>,  F(R(t d)) <= F + rounding.
//
// It brackets the step between one that is too short and one that is too long. New trials bisect the bracket, or
// double the step if there is no upper end. This needs no smoothness. Alternatively they are where the slope vanishes
// by linear interpolation.
//
// Sources: A. S. Lewis and M. L. Overton, Nonsmooth optimization via
// quasi-Newton methods, Math. Program. 141 (2013); W. W. Hager and H. Zhang, A
// new conjugate gradient method with guaranteed descent and an efficient line
// search, SIAM J. Optim. 16 (2005).
type HagerZhang struct {
	// C1, C2 and MaxTrials, with 0 < C1 < C2 < 1; 0 stands for 1e-4, .9 and 30.
	C1, C2    float64
	MaxTrials int
}

// Search implements [framework.LineSearch].
func (a HagerZhang) Search(at func(float64, bool) (float64, float64, error), cost, slope, first float64) (float64, error) {
	return a.search().Search(at, cost, slope, first)
}

func (a HagerZhang) search() wolfeSearch {
	return wolfeSearch{c1: cmp.Or(a.C1, armijoConstant), c2: cmp.Or(a.C2, curvatureConstant), trials: cmp.Or(a.MaxTrials, mostTrials), secant: true}
}

// armijoConstant, curvatureConstant and mostTrials are the defaults of line searches. armijoConstant is also the least
// ratio of actual to predicted decrease at which [Newton] accepts a step.
const armijoConstant, curvatureConstant, mostTrials = 1e-4, 0.9, 30

// wolfeSearch implements all line searches.
type wolfeSearch struct {
	c1, c2    float64
	trials    int
	secant    bool
	strong    bool // a rising slope can show that a step is too long
	costsOnly bool // slopes are not evaluated
	// unit is the unit of interpolated steps found from costs, 0 for none.
	unit float64
}

// searchFor returns the line search of a solver: the chosen one, or [HagerZhang] if it is nil, configured for the
// problem. If the first step is a guess, it allows more trials.
func searchFor(e *framework.Evaluator, chosen framework.LineSearch, secant, guess bool) framework.LineSearch {
	if chosen == nil {
		chosen = HagerZhang{}
	}
	v, ok := chosen.(interface{ search() wolfeSearch })
	if !ok {
		return chosen
	}
	s := v.search()
	s.secant = secant
	if _, zero := framework.As[framework.Certifier](e.Problem()); !zero {
		s.unit = sectionUnit
	}
	if guess {
		s.trials *= firstTrials
	}
	return s
}

// Search implements [framework.LineSearch]. If only the first condition could be met, it returns the longest such
// step.
func (a wolfeSearch) Search(at func(float64, bool) (float64, float64, error), cost, slope, first float64) (float64, error) {
	lo, hi, t := stepEnds{cost: cost, slope: slope}, stepEnds{step: math.Inf(1), slope: math.NaN()}, first
	for range a.trials {
		now, _, err := at(t, false)
		if err != nil {
			return 0, err
		}
		switch {
		case !a.low(now, cost, t, slope):
			hi = stepEnds{step: t, slope: math.NaN(), cost: now}
		case a.costsOnly:
			return t, nil
		default:
			_, end, err := at(t, true)
			if err != nil {
				return 0, err
			}
			if a.pastMinimum(end, cost, t, slope) || a.strong && end > -a.c2*slope {
				hi = stepEnds{step: t, slope: end, cost: now}
				break
			}
			if end >= a.c2*slope {
				return t, nil
			}
			lo = stepEnds{step: t, slope: end, cost: now}
		}
		if t = a.next(lo, hi); !(t > lo.step && t < hi.step) {
			break
		}
	}
	return lo.step, nil
}

// stepEnds holds the known values at an end of the bracket.
type stepEnds struct{ step, cost, slope float64 }

// line is the memory of a line search: the direction, and points along it.
type line struct {
	trial     trialPoint
	dir, work framework.Point
}

// trialPoint is the point at a step along the direction, with its cost, its
// Riemannian gradient and the slope there.
type trialPoint struct {
	x, grad           framework.Point
	euclidean         framework.Point // the gradient of the surrounding space, nil unless kept
	step, cost, slope float64
	known, sloped     bool // it is a point of finite cost; the gradient is complete
}

func (l *line) allocate(blocks []framework.Block) {
	if l.dir != nil {
		return
	}
	for _, p := range []*framework.Point{&l.dir, &l.work, &l.trial.x, &l.trial.grad} {
		*p = framework.NewPoint(blocks)
	}
}

// unscaledStep is the first step along the negative gradient, for a given slope, if no length is known. If the
// problem is a [framework.Certifier], it is the step after which a linear cost vanishes, so that steps have the unit
// of the data. Other costs may have an additive constant; then it is a move of unit length.
func unscaledStep(e *framework.Evaluator, cost, slope float64) float64 {
	if _, zero := framework.As[framework.Certifier](e.Problem()); zero {
		return polyak(cost, -slope)
	}
	return 1 / math.Sqrt(-slope)
}

// find searches a step from x, given the cost and the slope along dir. It begins with first, and leaves the point in
// trial with its gradient.
//
// If a problem can resume, the gradient of a trial is only evaluated once its cost is low enough.
func (l *line) find(e *framework.Evaluator, search framework.LineSearch, x framework.Point, cost, slope, first float64) (bool, error) {
	_, resumes := framework.As[resumer](e.Problem())
	at := func(t float64, sloped bool) (float64, float64, error) {
		if sloped && t == l.trial.step && l.trial.known {
			if l.trial.sloped {
				return l.trial.cost, l.trial.slope, nil
			}
			err := l.endSlope(e, x, resumes)
			return l.trial.cost, l.trial.slope, err
		}
		ok, err := l.try(e, x, t, !resumes)
		if err != nil || !ok {
			return math.Inf(1), math.NaN(), err
		}
		if sloped {
			err = l.endSlope(e, x, resumes)
		}
		return l.trial.cost, l.trial.slope, err
	}
	l.trial.known, l.trial.sloped = false, false
	step, err := search.Search(at, cost, slope, first)
	if err != nil || !(step > 0) {
		return false, err
	}
	now, _, err := at(step, true)
	return err == nil && !math.IsInf(now, 1), err
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
func (a wolfeSearch) next(lo, hi stepEnds) float64 {
	if math.IsInf(hi.step, 1) {
		return 2 * lo.step
	}
	width := hi.step - lo.step
	if !a.secant && !math.IsInf(hi.cost, 1) {
		return lo.step + width/2
	}
	// The minimum of the parabola through the slope at lo and what is known at hi: lo where the cost at hi is not finite.
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

// walk moves from x along v. On manifolds with their own metric it follows the geodesic if that is known. Only there
// the slope is that along the transported direction, even far from x.
func walk(b framework.Block, dst, x, v []float64) error {
	if _, ok := b.Manifold.(framework.Metric); ok {
		if _, ok := b.Manifold.(framework.Exper); ok {
			return b.Exp(dst, x, v)
		}
	}
	return b.Retract(dst, x, v)
}

// try evaluates the trial at step t from x, with its gradient if requested, and reports whether its cost is finite.
func (l *line) try(e *framework.Evaluator, x framework.Point, t float64, gradient bool) (bool, error) {
	for k, b := range e.Blocks() {
		floats.ScaleTo(l.work[k], t, l.dir[k])
		if walk(b, l.trial.x[k], x[k], l.work[k]) != nil {
			return false, nil
		}
	}
	l.trial.step, l.trial.known, l.trial.sloped = t, false, false
	var grad framework.Point
	if gradient {
		grad = l.trial.grad
	}
	cost, err := e.Evaluate(grad, l.trial.x)
	l.trial.cost = cost
	l.trial.known = err == nil && !math.IsInf(cost, 0)
	return l.trial.known, err
}

// endSlope computes the Riemannian gradient at the trial and the slope along dir. If missing, the gradient was not
// evaluated with the cost, and is first.
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
	t.slope, t.sloped = 0, true
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
