package framework

import (
	"math"
	"slices"
)

const (
	// costRounding is the assumed relative error of a computed cost, which may be a sum of many terms or
	// ill-conditioned.
	costRounding = 0x1p-36
	// clearFall is the factor by which the gradient norm must fall to count as progress.
	clearFall = 0.9
	// hiddenPatience multiplies the patience while rounding hides decreases of the cost.
	hiddenPatience = 50
)

// gradients holds the gradient norms and costs of a stored run.
type gradients struct{ Lowest, Best, Least float64 }

// certified reports whether the problem has its own measure of stationarity.
func (r *run) certified() bool {
	_, own := As[Certifier](r.evaluator.problem)
	return own
}

// gradientNorms are the norms of the blocks' gradients at the iterate. It is nil if the state does not report them or
// the problem has its own measure of stationarity.
func (r *run) gradientNorms() []float64 {
	if r.certified() {
		return nil
	}
	return r.blockNorms()
}

// gradientNorm returns the largest of gradientNorms, and false if there are none.
func (r *run) gradientNorm() (float64, bool) { return largest(r.gradientNorms()) }

func largest(norms []float64) (float64, bool) {
	if norms == nil {
		return math.Inf(1), false
	}
	return slices.Max(norms), true
}

// blockNorms returns the gradient norm of each block, nil if the state does not report its gradient.
func (r *run) blockNorms() []float64 {
	s, ok := r.state.(graded)
	if !ok {
		return nil
	}
	gradient := s.Gradient()
	if gradient == nil {
		return nil
	}
	x, _ := r.state.Iterate()
	norms := make([]float64, len(r.evaluator.blocks))
	for k, b := range r.evaluator.blocks {
		norms[k] = b.Norm(x[k], gradient[k])
	}
	return norms
}

// better reports whether an iterate replaces the best one. If two costs are equal up to rounding, the smaller
// gradient decides. If the gradients are not known, the later of the lowest iterates wins.
func (r *run) better(cost, gradient float64, known bool) bool {
	if !known || math.IsInf(r.bestGradient, 1) {
		return cost <= r.best
	}
	noise := costRounding * math.Abs(r.lowest)
	switch {
	case cost > r.lowest+noise:
		return false
	case cost < r.best-noise:
		return true
	default:
		return gradient < r.bestGradient
	}
}

// falls records a gradient norm and reports whether it is clearly below all earlier ones.
func (r *run) falls(gradient float64) bool {
	if !(gradient < clearFall*r.leastGradient) {
		return false
	}
	r.leastGradient = gradient
	return true
}

// fallsUnseen reports whether the last gradient norm is clearly below all earlier ones although the decrease of the
// cost is lost in rounding.
func (r *run) fallsUnseen(decrease, cost float64) bool {
	return !r.certified() && r.refutation == "" && atRounding(decrease, cost) && r.falls(slices.Max(r.stationarity))
}

// patience is the number of slow iterations that end a run. While rounding hides the decrease of the cost, the
// gradient norm decides; for ill-conditioned problems its least value may fall only once in many iterations.
func (r *run) patience(hidden bool) int {
	if hidden {
		return hiddenPatience * r.options.Patience
	}
	return r.options.Patience
}

// atRounding reports whether the decrease of a cost may be due to rounding alone.
func atRounding(decrease, cost float64) bool {
	return math.Abs(decrease) <= DefaultMinRelativeDecrease*math.Abs(cost)
}

// dueAt reports whether the gradient norm is within the tolerance, or below the next threshold at which conclude
// looks for lower costs elsewhere.
func (r *run) dueAt(gradient float64) bool {
	if gradient <= r.tolerance() {
		return true
	}
	return r.examines() && thresholds(gradient/r.unit) > r.examined
}

// examines reports whether the problem offers a way to examine points, see conclude.
func (r *run) examines() bool {
	if r.options.FirstOrder {
		return false
	}
	p, ok := As[explorer](r.evaluator.problem)
	return ok && p.Explores(r.evaluator)
}

// fallen is the reference for a decrease of the cost. It is the cost if the problem has its own measure of
// stationarity, and so a cost with a known zero. Otherwise it is the decrease since the start.
func (r *run) fallen(before float64) float64 {
	if r.certified() {
		return math.Abs(before)
	}
	return math.Abs(r.startCost() - before)
}
