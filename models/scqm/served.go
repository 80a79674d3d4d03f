package scqm

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// servedBy refuses a solver that cannot serve the problem, which is Newton's method
// where second derivatives would be too large.
func (p *Problem) servedBy(solver framework.Solver) error {
	if c, ok := solver.(solvers.Continuation); ok {
		solver = c.Inner
	}
	if _, ok := solver.(solvers.Newton); !ok {
		return nil
	}
	if _, fits := p.ArrowheadShape(); fits {
		return nil
	}
	f := p.Shape()
	return fmt.Errorf("scqm: the solver newton cannot fit %d rows of %d columns with d = %d and s = %d, as its second derivatives would be too large; use auto, alternating, lbfgs or rgd: %w",
		p.Data().N, f.D, f.Latent, f.S, ErrInput)
}
