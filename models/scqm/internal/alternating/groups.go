package alternating

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Groups of blocks are minimised over in turn where no sweep applies: the cost over
// the rows of Tau, n problems in R^d, and over c and Theta, one in R^(D + qs).

// The groups of blocks that a Problem minimises over at once.
const (
	groupTau    = iota // rows of Tau, by Newton's method
	groupAffine        // c and Theta, in which residuals are affine
)

// Groups lists Tau, and c with Theta.
func (*Sweeper) Groups() [][]int {
	return [][]int{{objective.BlockTau}, {objective.BlockC, objective.BlockTheta}}
}

// MinimizeGroup minimises the cost over Tau or over c and Theta. For convex
// losses the latter is a convex problem; the former has a local minimum for
// every row, which its Newton steps approach from where it is.
func (p *Sweeper) MinimizeGroup(dst, x framework.Point, g int) (cost, passes float64, err error) {
	if g == groupTau {
		if p.rowNewton == nil {
			p.rowNewton = newRowNewton(p.o)
		}
		return p.rowNewton.minimize(p.o, dst[objective.BlockTau], x)
	}
	if p.affine == nil {
		p.affine = newAffine(p.o, p.load(x))
	}
	return p.affine.minimize(p, dst, x)
}
