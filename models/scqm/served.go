package scqm

import (
	"errors"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// servedBy refuses a solver that cannot serve the problem, with those that can: it is
// Newton's method where second derivatives would be too large.
func (p *Problem) servedBy(solver framework.Solver) error {
	var refusal *framework.UnsupportedError
	if !errors.As(solvers.Supports(solver, p), &refusal) {
		return nil
	}
	f := p.Shape()
	return refused{fmt.Errorf("scqm: the solver %s cannot fit %d rows of %d columns with d = %d and s = %d: it needs %s; use auto, %s: %w",
		refusal.Solver, p.Data().N, f.D, f.Latent, f.S, refusal.Lacks, refusal.Remedy(), ErrInput)}
}

// refused is an error of input that a solver does not serve: it is an errors.ErrUnsupported, too.
type refused struct{ error }

func (e refused) Unwrap() []error { return []error{e.error, errors.ErrUnsupported} }
