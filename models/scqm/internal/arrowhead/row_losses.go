package arrowhead

import (
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/rows"
)

// Assembly and inner steps evaluate a loss at the residuals of a batch of rows, with
// the second derivatives that its structure has: for a sum over entries a diagonal,
// at the price of a gradient; else products with D vectors, asked for one by one.

// rowLoss is a loss with the structure of its Hessian.
type rowLoss struct {
	loss      framework.Loss
	structure rowloss.Structure
	separable framework.Separable   // nil for other structures
	second    framework.SecondOrder // its second derivatives
	missing   bool                  // entries of the residuals can be missing
	flat      bool                  // second derivatives can vanish with the residuals
}

// minSecond is the least second derivative of an entry, relative to the largest of its row. Smaller ones are raised to
// it for losses whose second derivatives can vanish. In a direction in which all residuals are zero, both the gradient
// and the Hessian would be rounding errors, and Newton's step their quotient.
const minSecond = 1e-13

func rowLossOf(loss framework.Loss) rowLoss {
	l := rowLoss{loss: loss, structure: rowloss.StructureOf(loss), second: rowloss.HessianOf(loss)}
	if l.structure == rowloss.StructureSeparable {
		l.separable, _ = loss.(framework.Separable)
		_, bound := loss.(framework.Majorizer)
		l.flat = !bound
	}
	return l
}

// evaluate computes losses and derivatives at the first n residuals, of length D.
func (l *rowLoss) evaluate(t *rowLosses, n, D int) error {
	if l.separable == nil {
		return l.loss.Evaluate(t.value[:n], t.g[:n*D], t.r[:n*D], D)
	}
	l.separable.Phi(t.terms[:n*D], t.g[:n*D], t.hessDiag[:n*D], t.r[:n*D])
	for i := range n {
		var sum float64
		for _, v := range t.terms[i*D : (i+1)*D] {
			sum += v
		}
		t.value[i] = sum
		if l.missing && rows.NoneObserved(t.r[i*D:(i+1)*D]) {
			t.value[i] = math.NaN() // the sheet is not finite there
		}
	}
	if l.flat {
		for i := range n {
			raiseSeconds(t.hessDiag[i*D:(i+1)*D], t.r[i*D:(i+1)*D])
		}
	}
	return nil
}

// raiseSeconds raises second derivatives of entries that are not missing to minSecond of the largest.
func raiseSeconds(second, r []float64) {
	var least float64
	for _, v := range second {
		least = max(least, minSecond*v)
	}
	for k, v := range second {
		if v < least && v >= 0 && r[k] == r[k] {
			second[k] = least
		}
	}
}

// rowLosses holds the losses of a batch of rows and their derivatives with respect to the residuals.
type rowLosses struct {
	value    []float64 // n
	r, g     []float64 // n x D: residuals and gradients
	hessDiag []float64 // n x D: the diagonals of the Hessians of a separable loss
	terms    []float64 // n x D: the terms of the values
}

func newRowLosses(n, D int) rowLosses {
	vec := func(n int) []float64 { return make([]float64, n) }
	return rowLosses{value: vec(n), r: vec(n * D), g: vec(n * D), hessDiag: vec(n * D), terms: vec(n * D)}
}
