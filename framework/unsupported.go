package framework

import (
	"errors"
	"fmt"
	"strings"
)

// UnsupportedError reports that a solver cannot serve a problem. It wraps [ErrInvalid] and errors.ErrUnsupported.
type UnsupportedError struct {
	// Solver is the name of the solver. Lacks is the capability that it needs and the problem does not offer.
	Solver, Lacks string
	// Serving lists the names of solvers that can serve the problem.
	Serving []string
}

// Error is one line that names the solver, what is missing and the solvers that can
// serve the problem.
func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("the solver %s cannot serve a problem without %s", e.Solver, e.Lacks)
	if len(e.Serving) > 0 {
		s += "; use " + e.Remedy()
	}
	return s
}

// Remedy lists the solvers that can serve the problem in words: "a, b or c".
func (e *UnsupportedError) Remedy() string {
	last := len(e.Serving) - 1
	if last < 1 {
		return strings.Join(e.Serving, "")
	}
	return strings.Join(e.Serving[:last], ", ") + " or " + e.Serving[last]
}

// Unwrap returns [ErrInvalid] and errors.ErrUnsupported.
func (e *UnsupportedError) Unwrap() []error { return []error{ErrInvalid, errors.ErrUnsupported} }
