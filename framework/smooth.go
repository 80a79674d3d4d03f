package framework

// Smoothable is a problem whose cost has kinks that can be rounded. A solver
// for smooth costs then follows the minimisers of rounded costs as the rounding
// goes to zero. With a method Differentiable() bool it tells that it has a gradient at its
// kinks, as a sum of powers between 1 and 2 has: only second derivatives are infinite there.
type Smoothable interface {
	// SmoothingScale returns the length at which rounding should begin at x:
	// about that of a typical residual. It is 0 where the cost has no kinks,
	// or none that a minimiser is likely to sit on.
	SmoothingScale(x Point) (float64, error)
	// Smooth rounds the kinks of the cost over the length eps from now on; 0
	// restores the cost itself.
	Smooth(eps float64)
}

type differentiable interface{ Differentiable() bool }

// Differentiable reports whether a problem with kinks says that its cost has a
// gradient there.
func (e *Evaluator) Differentiable() bool {
	p, ok := As[differentiable](e.problem)
	return ok && p.Differentiable()
}

// SmoothingScale returns that of the problem at x, 0 where it is not
// [Smoothable]. It counts as one pass, or none where it is 0.
func (e *Evaluator) SmoothingScale(x Point) (float64, error) {
	p, ok := As[Smoothable](e.problem)
	if !ok {
		return 0, nil
	}
	if err := e.admit(0); err != nil {
		return 0, err
	}
	e.lastValid = false
	scale, err := p.SmoothingScale(x)
	if err != nil {
		return 0, e.failure(err)
	}
	if scale > 0 {
		e.counts.Passes++
	}
	return scale, nil
}

// Smooth rounds the kinks of the problem, which must be [Smoothable]. Whoever
// calls it with eps > 0 calls it with 0 before control goes back to Solve.
func (e *Evaluator) Smooth(eps float64) {
	e.lastValid = false
	p, _ := As[Smoothable](e.problem)
	p.Smooth(eps)
}
