package framework

import "fmt"

// Preconditioner is a problem with an approximation of its inverse Hessian. It offers a symmetric positive definite
// H, in the coordinates of the surrounding space, or in the metric of a block that has its own. Solvers project the
// result onto the tangent space.
type Preconditioner interface {
	// BuildPreconditioner builds H at x, which replaces the previous one, and returns the work in passes (see
	// [Counts]).
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

// Precondition applies the preconditioner that BuildPreconditioner built last.
func (e *Evaluator) Precondition(dst, v Point) {
	p, _ := As[Preconditioner](e.problem)
	p.Precondition(dst, v)
}
