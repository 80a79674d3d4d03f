package framework

import "fmt"

// Preconditioner is a problem that knows its Hessian roughly: it offers
// a symmetric positive definite approximation H of the inverse of the Hessian,
// in the coordinates of the surrounding space (in the metric, where a block has
// one of its own). Solvers project the result on the tangent space.
type Preconditioner interface {
	// BuildPreconditioner prepares H at x, which replaces the one before, and
	// returns the work that took, in passes (see [Counts]).
	BuildPreconditioner(x Point) (passes float64, err error)
	// Precondition writes H v into dst, which may be v.
	Precondition(dst, v Point)
}

// BuildPreconditioner prepares the problem's preconditioner at x and reports
// whether there is one.
func (e *Evaluator) BuildPreconditioner(x Point) (bool, error) {
	p, ok := As[Preconditioner](e.problem)
	if !ok {
		return false, nil
	}
	if err := e.admit(0); err != nil {
		return false, err
	}
	passes, err := p.BuildPreconditioner(x)
	e.counts.Passes += passes
	if err != nil {
		return false, e.failure(fmt.Errorf("preconditioner: %w", err))
	}
	return true, nil
}

// Precondition applies what BuildPreconditioner prepared last.
func (e *Evaluator) Precondition(dst, v Point) {
	p, _ := As[Preconditioner](e.problem)
	p.Precondition(dst, v)
}
