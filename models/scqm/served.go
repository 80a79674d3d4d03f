package scqm

import (
	"errors"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// servedBy returns an error if the solver cannot solve the problem, such as Newton's method for too many parameters.
// The error names solvers that can.
func (p *Problem) servedBy(solver framework.Solver) error {
	var refusal *framework.UnsupportedError
	if !errors.As(solvers.Supports(solver, p), &refusal) {
		return nil
	}
	f := p.Shape()
	return refused{fmt.Errorf("scqm: the solver %s cannot fit %d rows of %d columns with d = %d and s = %d: it needs %s; use auto, %s: %w",
		refusal.Solver, p.Data().N, f.D, f.Latent, f.S, refusal.Lacks, refusal.Remedy(), ErrInput)}
}

// refused is an input error for an unsupported solver; it also matches errors.ErrUnsupported.
type refused struct{ error }

func (e refused) Unwrap() []error { return []error{e.error, errors.ErrUnsupported} }
