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
// rounding of zeros; nor under r'Mr with a diagonal M, whose entries are such a sum. The matrices of Newton's
// method could show that the cost falls to second order as Q leaves it, and small fits keep these columns. So do
// fits under losses that grow faster than squares, as |r|^p with p > 2, whose second derivatives at 0 are 0: zeros
// in Q may then be no minimum.
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
	var values, slopes [3]float64
	loss.Phi(values[:], slopes[:], nil, []float64{0, 0.5, 1})
	return values[0] == 0 && slopes[0] == 0 && values[2] <= 4*values[1]
}

// varying returns the problem, and a point of it, without the columns in which all rows are the same, and the
// map of points back; nil where there are none, or too few others.
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
	other, err := p.reduced(fewer, loss)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("in the columns that vary: %w", err)
	}
	at := shrinkPoint(f, x, s.M)
	if !(other.Blocks()[BlockQ].Violation(at[BlockQ]) <= outsideSpan) {
		return nil, nil, nil, nil // a start that uses these columns
	}
	return other, at, f, nil
}
