package influence

import "github.com/scqm/scqm/framework"

// sums are views of the sums over rows in one list of numbers, of which the first is the total weight.
type sums struct {
	hessian, moves []float64   // P x P, upper triangles: the terms of low rank
	hh, shares     []float64   // F x F: products of features, with what the loss and the weights make of them
	gh             []float64   // D x F: gradients times features
	forms          [][]float64 // by pairs of features: W'LW; nil where products of features tell all
}

// FormLen is the length of the sum of W'LW for a pair of features, 0 where products of features suffice.
func FormLen(l framework.Structure, D int) int {
	switch l {
	case framework.StructureRadial, framework.StructureQuadratic:
		return 0
	case framework.StructureSeparable:
		return D
	}
	return D * D
}

// SumsLen is the number of sums for P coordinates, F features, D columns and forms of length
// form, see FormLen.
func SumsLen(P, F, D, form int) int { return 1 + 2*P*P + 2*F*F + D*F + F*(F+1)/2*form }

// SumsLen is the number of sums that Sum writes.
func (k *Jackknife) SumsLen() int {
	return SumsLen(k.P, k.Nf, k.F.D, FormLen(k.structure, k.F.D))
}

// view returns the sums in a list of SumsLen numbers.
func (k *Jackknife) view(list []float64) sums {
	at := 1
	next := func(n int) []float64 {
		at += n
		return list[at-n : at : at]
	}
	P, F, D := k.P, k.Nf, k.F.D
	s := sums{hessian: next(P * P), moves: next(P * P), hh: next(F * F), shares: next(F * F), gh: next(D * F)}
	if form := FormLen(k.structure, D); form > 0 {
		s.forms = make([][]float64, F*F)
		for a := range F {
			for b := a; b < F; b++ {
				s.forms[a*F+b] = next(form)
			}
		}
	}
	return s
}
