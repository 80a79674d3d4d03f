package objective

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
)

// weightSpan bounds the weights, relative to their median: those near kinks are large, and those of |r|^p with p > 2
// vanish with the residuals.
const weightSpan = 1e8

// LossWeights writes the weights w of entries for which 1/2 w r^2 approximates the curvature of the loss at the cached
// residuals, n x D. They are those of its quadratic bound, otherwise phi'(r)/r or 2 rho'(|r|^2), otherwise 1, times the
// weights of the rows. It takes a pass over the residuals.
func (p *Objective) LossWeights(dst []float64) error {
	D, errs := p.data.D, make([]error, len(p.sums))
	par.Do(p.threads, len(errs), func(_, shard int) {
		lo, hi := par.Bounds(p.data.N, shard)
		errs[shard] = fillWeights(dst[lo*D:hi*D], p.residuals[lo*D:hi*D], p.loss, D)
	})
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	var some []float64 // one of each row
	for i := range p.data.N {
		if w := dst[i*D+i%D]; w > 0 {
			some = append(some, w)
		}
	}
	middle := 1.0
	if len(some) > 0 {
		middle = min(dense.Select(some, len(some)/2), math.MaxFloat64/weightSpan)
	}
	for i := range p.data.N {
		row := dst[i*D : (i+1)*D]
		for k, v := range row {
			row[k] = min(max(v, middle/weightSpan), middle*weightSpan)
		}
		if p.data.Missing {
			clearMissing(row, p.data.Row(i))
		}
		dense.Scale(row, p.data.Weight(i))
	}
	return nil
}

// clearMissing gives the weight 0 to the missing entries of a row.
func clearMissing(w, row []float64) {
	for k, v := range row {
		if v != v {
			w[k] = 0
		}
	}
}

// fillWeights writes the weights at residuals r of some rows into w.
func fillWeights(w, r []float64, loss framework.Loss, D int) (err error) {
	radial, byRow := loss.(framework.Radial)
	of := w
	if byRow {
		of = make([]float64, len(r)/D)
	}
	bound, bounded := loss.(framework.Majorizer)
	separable, byEntry := loss.(framework.Separable)
	switch {
	case bounded:
		err = bound.Weights(of, r, D)
	case byRow:
		for i := range of {
			row := r[i*D : (i+1)*D]
			of[i] = floats.Dot(row, row)
		}
		radial.Rho(nil, of, nil, of)
		floats.Scale(2, of)
	case byEntry:
		separable.Phi(nil, w, nil, r)
		for k, v := range r {
			if w[k] /= v; v == 0 || v != v {
				w[k] = 0
			}
		}
	default:
		for k := range w {
			w[k] = 1
		}
	}
	for k := 0; byRow && k < len(w); k++ {
		w[k] = of[k/D]
	}
	return err
}

// MaxCoupled is the largest number of entries of Theta that are solved for in one system.
const MaxCoupled = 100
