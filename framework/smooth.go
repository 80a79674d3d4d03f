package framework

// Smoothable is a problem whose cost has kinks that can be smoothed. A solver for smooth costs then follows the
// minimisers of smoothed costs as the smoothing length goes to zero. A method Differentiable() bool reports that the
// cost has a gradient at its kinks. A sum of powers between 1 and 2 is of this kind: only its second derivatives are
// infinite there.
type Smoothable interface {
	// SmoothingScale returns the length at which smoothing should begin at x: about that of a typical residual. It is
	// 0 if the cost has no kinks, or none that a minimiser is likely to be at.
	SmoothingScale(x Point) (float64, error)
	// Smooth smooths the kinks of the cost over the length eps from now on; 0 restores the cost itself.
	Smooth(eps float64)
}

type differentiable interface{ Differentiable() bool }

// Differentiable reports whether a problem with kinks declares that its cost has a gradient there.
func (e *Evaluator) Differentiable() bool {
	p, ok := As[differentiable](e.problem)
	return ok && p.Differentiable()
}

// SmoothingScale returns the SmoothingScale of the problem at x, 0 if it is not [Smoothable]. It counts as one pass,
// or none if it is 0.
func (e *Evaluator) SmoothingScale(x Point) (scale float64, err error) {
	p, ok := As[Smoothable](e.problem)
	if !ok {
		return 0, nil
	}
	err = e.Charge(0, func() (err error) {
		if scale, err = p.SmoothingScale(x); scale > 0 && err == nil {
			e.counts.Passes++
		}
		return err
	})
	return scale, err
}

// Smooth smooths the kinks of the problem, which must be [Smoothable]. After a call with eps > 0, the caller must
// call it with 0 before control returns to Solve.
func (e *Evaluator) Smooth(eps float64) {
	e.lastValid = false
	p, _ := As[Smoothable](e.problem)
	p.Smooth(eps)
}
