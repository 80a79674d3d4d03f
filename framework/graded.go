package framework

import "math"

const (
	// costRounding is the relative error that a computed cost may have: a sum
	// of many terms, or of an ill-conditioned one, may have that.
	costRounding = 0x1p-36
	// clearFall is the factor by which the gradient norm has to fall for a run
	// to get on.
	clearFall = 0.9
	// hiddenPatience multiplies the patience where rounding hides decreases.
	hiddenPatience = 50
)

// gradients is what a stored run knows of gradient norms and costs.
type gradients struct{ Lowest, Best, Least float64 }

// certified reports whether the problem has a measure of stationarity of its own.
func (r *run) certified() bool {
	_, own := As[Certifier](r.evaluator.problem)
	return own
}

// gradientNorms are the norms of the blocks' gradients at the iterate; nil where the
// state does not tell them or the problem has a measure of its own.
func (r *run) gradientNorms() []float64 {
	if r.certified() {
		return nil
	}
	return r.blockNorms()
}

// gradientNorm returns the largest of gradientNorms, and false where there are none.
func (r *run) gradientNorm() (float64, bool) { return largest(r.gradientNorms()) }

func largest(norms []float64) (float64, bool) {
	if norms == nil {
		return math.Inf(1), false
	}
	return worst(norms), true
}

// blockNorms is nil where the state does not tell its gradient.
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

// better reports whether an iterate takes the place of the best one. Costs that
// are equal up to rounding say nothing: of such iterates the smaller gradient
// wins or, where that is not known, the later one among the lowest.
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

// falls notes a gradient norm and reports whether it is clearly below all before.
func (r *run) falls(gradient float64) bool {
	if !(gradient < clearFall*r.leastGradient) {
		return false
	}
	r.leastGradient = gradient
	return true
}

// fallsUnseen reports whether the gradient norm computed last is clearly below all
// before although the decrease of the cost is lost in rounding.
func (r *run) fallsUnseen(decrease, cost float64) bool {
	return !r.certified() && r.refutation == "" && atRounding(decrease, cost) && r.falls(worst(r.stationarity))
}

// patience is the number of slow iterations that end a run. Where rounding hides what
// the cost falls by, the gradient norm decides, whose least value may take many
// iterations to fall on problems of large condition.
func (r *run) patience(hidden bool) int {
	if hidden {
		return hiddenPatience * r.options.Patience
	}
	return r.options.Patience
}

// atRounding reports whether the decrease of a cost may be rounding alone.
func atRounding(decrease, cost float64) bool {
	return math.Abs(decrease) <= DefaultMinRelativeDecrease*math.Abs(cost)
}

// dueAt reports whether the gradient norm is within the tolerance, or below the next of the thresholds at which
// conclude looks for lower costs elsewhere.
func (r *run) dueAt(gradient float64) bool {
	if gradient <= r.tolerance() {
		return true
	}
	return r.examines() && thresholds(gradient/r.unit) > r.examined
}

// examines reports whether the problem offers anything to examine, see conclude.
func (r *run) examines() bool {
	if r.options.FirstOrder {
		return false
	}
	p, ok := As[explorer](r.evaluator.problem)
	return ok && p.Explores(r.evaluator)
}

// fallen is what a decrease of the cost is measured by: the cost, where the
// problem has a measure of stationarity and so a cost of known zero, else what
// it has fallen by since the start.
func (r *run) fallen(before float64) float64 {
	if r.certified() {
		return math.Abs(before)
	}
	return math.Abs(r.startCost() - before)
}
