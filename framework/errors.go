package framework

import "errors"

var (
	// ErrInvalid reports a start, an option or a problem that cannot be used.
	ErrInvalid = errors.New("invalid input")
	// ErrNonFinite reports that the cost was NaN or Inf too many times in a row, or at the start.
	ErrNonFinite = errors.New("cost is not finite")
	// ErrNoProgress is returned by Step if no step from the current point lowers the cost. It ends a run without
	// failing it.
	ErrNoProgress = errors.New("no step lowers the cost")
	// ErrPanic wraps a panic of user code: a problem, a loss or a manifold.
	ErrPanic = errors.New("panic in user code")

	// errStop ends a run whose budget is exhausted or whose context is done. Solvers get it as the error of an
	// evaluation and must return it.
	errStop = errors.New("run stopped")
)
