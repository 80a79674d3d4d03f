package scqm

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// dropsColumns reports whether columns in which all rows are the same may be left out. A start
// from principal components has that entry in c and zeros in Q there. Under a loss that is a sum
// over entries, each least and flat at 0, the derivatives by that part of c and Q are 0 then, and the
// second ones have no part that mixes it with others: no step of a solver leaves it, but for the
// rounding of zeros; nor under r'Mr with a diagonal M, whose entries are such a sum. The matrices of Newton's method could show that the cost falls to second order
// as Q leaves it, and small fits keep these columns.
func (p *Problem) dropsColumns() bool {
	_, newton := p.ArrowheadShape()
	if newton || p.Data().Missing || p.published {
		return false
	}
	if form, turned := p.Loss().(*nearest.TridiagonalForm); turned {
		return form.M.IsDiagonal()
	}
	loss, separable := p.Loss().(framework.Separable)
	_, fixed := p.Loss().(rowloss.Dimensioned)
	if !separable || fixed {
		return false
	}
	var value, slope, zero [1]float64
	loss.Phi(value[:], slope[:], nil, zero[:])
	return value[0] == 0 && slope[0] == 0
}

// varying returns the problem, and a point of it, without the columns in which all rows are the same, and the
// map of points back; nil where there are none, or too few others.
//
// Where the second derivatives of the loss at 0 are 0, too, as those of |r|^p with p > 2, zeros in Q are no
// minimum: by Q'Q = I, as much of Q as reaches into these columns leaves the others, which can lower the cost
// to second order, and raises it to a higher one there. As these columns are alike, so are their parts of c and
// Q; they are merged into one column, scaled by the root of their number, see [gatheredLoss]. What is
// stationary among such points is so among all.
func (p *Problem) varying(x framework.Point) (*Problem, framework.Point, coordinates, error) {
	f, fewer := rows.VaryingColumns(*p.Data())
	s := p.Shape()
	if f == nil || fewer.D < s.M {
		return nil, nil, nil, nil
	}
	loss := p.Loss()
	if form, turned := loss.(*nearest.TridiagonalForm); turned {
		loss = form.Keep(f.Kept())
	}
	even, gathered := loss.(evenLoss)
	if gathered = gathered && flatAtZero(even); gathered {
		fewer = f.Gather(fewer)
		loss = newGatheredLoss(even, fewer.D, s.D-len(f.Kept()))
	}
	other, err := p.reduced(fewer, loss)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("in the columns that vary: %w", err)
	}
	at := shrinkPoint(f, x, s.M)
	if !(other.Blocks()[BlockQ].Violation(at[BlockQ]) <= outsideSpan) {
		return nil, nil, nil, nil // a start that uses these columns
	}
	if gathered {
		last := at[BlockQ][(fewer.D-1)*s.M:]
		for k := range last {
			last[k] = gatheredPart
		}
		if err := other.Blocks()[BlockQ].Restore(at[BlockQ]); err != nil {
			return nil, nil, nil, fmt.Errorf("in the columns that vary: %w", err)
		}
	}
	return other, at, f, nil
}

// gatheredPart is the start value of Q in a gathered column, as the cost has slope 0 at zero.
const gatheredPart = 1e-3

// flatAtZero reports whether phi″(0) = 0.
func flatAtZero(loss evenLoss) bool {
	var curvature, zero [1]float64
	loss.Phi(nil, nil, curvature[:], zero[:])
	return curvature[0] == 0
}
