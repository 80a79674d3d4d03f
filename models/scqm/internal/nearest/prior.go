package nearest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

// Prior is a symmetric d x d matrix P that adds tau'P tau to the loss of a row with missing entries; nil adds
// nothing. Without a prior, tau overfits a row with few entries, and with fewer than d entries it is not unique.
type Prior []float64

// Of returns the prior of row i, nil if the row has no missing entries.
func (p Prior) Of(x rows.Data, i int) Prior {
	if p == nil || !x.Missing || !rows.Incomplete(x.Row(i)) {
		return nil
	}
	return p
}

// Value returns tau'P tau.
func (p Prior) Value(tau []float64) float64 {
	var sum float64
	if p != nil {
		d := len(tau)
		for j, v := range tau {
			sum += v * dense.Dot(p[j*d:(j+1)*d], tau)
		}
	}
	return sum
}

// AddGradient adds weight times the gradient 2P tau to dst.
func (p Prior) AddGradient(dst, tau []float64, weight float64) {
	if p == nil {
		return
	}
	d := len(tau)
	for j := range dst {
		dst[j] += 2 * weight * dense.Dot(p[j*d:(j+1)*d], tau)
	}
}

// AddHessian adds weight times the Hessian 2P to h.
func (p Prior) AddHessian(h []float64, weight float64) {
	if p != nil {
		floats.AddScaled(h[:len(p)], 2*weight, p)
	}
}

// OfCompleteRows returns a loss for complete rows in its most efficient form. The sum of squares becomes a function
// of the squared norm; other losses are unchanged.
func OfCompleteRows(l framework.Loss) framework.Loss {
	if _, radial := l.(framework.Radial); !radial && l.Name() == "squared_l2" {
		return squares{l}
	}
	return l
}

// SquaresEntries reports whether a loss is the sum of squares of the entries that are not missing.
func SquaresEntries(l framework.Loss) bool {
	_, is := OfCompleteRows(l).(squares)
	return is
}

// squares is squared_l2 as a function of the squared norm.
type squares struct{ framework.Loss }

// Rho implements [framework.Radial].
func (squares) Rho(rho, d1, d2, u []float64) {
	copy(rho, u)
	for i := range d1 {
		d1[i] = 1
	}
	clear(d2)
}
