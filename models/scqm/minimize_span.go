package scqm

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/rows"
)

// restrict returns the problem and its point in the coordinates of the span of the rows, nil if this is not lossless.
// It is lossless if the loss is a function of |r| and the point's Q is in the span.
func (p *Problem) restrict(x framework.Point) (*Problem, framework.Point, error) {
	if !p.spanSuffices() {
		return nil, nil, nil
	}
	if p.span == nil { // for all starts
		var inSpan Data
		var err error
		p.span, inSpan = rows.NewSpan(*p.Data())
		if p.inSpan, err = p.reduced(inSpan, p.Loss()); err != nil {
			return nil, nil, fmt.Errorf("in the span of the rows: %w", err)
		}
	}
	at := shrinkPoint(p.span, x, p.Shape().M)
	if !(p.inSpan.Blocks()[BlockQ].Violation(at[BlockQ]) <= outsideSpan) {
		return nil, nil, nil // the rows span less than Q needs
	}
	return p.inSpan, at, nil
}

// spanSuffices reports whether the rows span less than R^D and the loss is the same function of |r| in the span.
func (p *Problem) spanSuffices() bool {
	_, radial := p.Loss().(framework.Radial)
	_, fixed := p.Loss().(rowloss.Dimensioned)
	n := p.Data().N
	return radial && !fixed && n < p.Data().D && n > p.Shape().M
}

// compressible reports whether the solver stays in the span of the rows, and whether the change of coordinates pays.
// The change costs about 2 n^2 D operations.
func (p *Problem) compressible(solver framework.Solver) bool {
	n, D, f := p.Data().N, p.Data().D, p.Shape()
	if s, ok := solver.(latent.Equivariant); !p.spanSuffices() || !ok || !s.Equivariant() {
		return false
	}
	return n*D <= compressionSweeps*(D-n)*(1+f.M+f.Latent+f.Q)
}
