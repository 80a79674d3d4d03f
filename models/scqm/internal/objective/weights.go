package objective

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
)

const (
	// minBoundWeight is the floor of the weights, relative to their mean, for losses with a quadratic bound; their
	// weights decrease slowly.
	minBoundWeight = 1e-8
	// minWeight is the least weight, relative to the mean, for other losses. Weights of |r|^p with p > 2 vanish with
	// the residuals, and without this bound the steps of well fitted entries would be unbounded.
	minWeight = 0.1
	// weightSpan bounds the weights near kinks, relative to the smallest weight.
	weightSpan = 1e10
)

// LossWeights computes the weights w of entries for which 1/2 w r^2 approximates the curvature of the loss, in a pass
// over the residuals. They are those of its quadratic bound, otherwise phi'(r)/r or 2 rho'(|r|^2), otherwise 1, times
// the weights of the rows.
type LossWeights struct {
	floor float64   // floor relative to the mean; 0 for none
	span  float64   // bound relative to the smallest weight
	W     []float64 // n x D
}

func NewLossWeights(p *Objective) LossWeights {
	l := LossWeights{floor: minWeight, span: math.Inf(1), W: make([]float64, p.data.N*p.data.D)}
	if _, bound := p.loss.(framework.Majorizer); bound {
		l.floor, l.span = minBoundWeight, weightSpan
	}
	return l
}

// Compute writes the weights at the residuals of the problem.
func (l *LossWeights) Compute(p *Objective) error {
	type part struct {
		least float64
		err   error
	}
	parts := make([]part, len(p.sums))
	length := p.data.D
	par.Do(p.threads, len(parts), func(_, shard int) {
		lo, hi := par.Bounds(p.data.N, shard)
		w, r := l.W[lo*length:hi*length], p.residuals[lo*length:hi*length]
		parts[shard].err = fillWeights(w, r, p.loss, length)
		least := math.Inf(1)
		for _, v := range w {
			if v > 0 && v < least {
				least = v
			}
		}
		parts[shard].least = least
	})
	least, sum := math.Inf(1), 0.0
	for _, t := range parts {
		if t.err != nil {
			return t.err
		}
		least = math.Min(least, t.least)
	}
	for i, v := range l.W {
		l.W[i] = min(v, l.span*least)
		sum += l.W[i]
	}
	floor := l.floor * sum / float64(len(l.W))
	if !(floor > 0) || math.IsInf(floor, 0) {
		floor = 1 // the weights are all 0 or not finite, as where all residuals are 0
	}
	for i := range p.data.N {
		row := l.W[i*length : (i+1)*length]
		for k, v := range row {
			row[k] = max(v, floor)
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
	for k := range w {
		w[k] = of[k/(len(w)/len(of))]
	}
	return err
}

// MaxCoupled is the largest number of entries of Theta that are solved for in one system.
const MaxCoupled = 100
