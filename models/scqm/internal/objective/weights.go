package objective

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
)

// WeightForm is the form of the matrices W_i that replace the Hessian of the loss at row i in IRLS and
// preconditioning. Computing weights takes one pass over the nD residuals.
type WeightForm int

const (
	PerRow   WeightForm = iota // w_i I
	PerEntry                   // a diagonal matrix
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

// LossWeights computes the weights w for which 1/2 w r^2 approximates the curvature of the loss. They are those of its
// quadratic bound, otherwise phi'(r)/r or 2 rho'(|r|^2), otherwise 1, times the weights of the rows.
type LossWeights struct {
	Form  WeightForm
	floor float64   // floor relative to the mean; 0 for none
	span  float64   // bound relative to the smallest weight
	W     []float64 // n, or n x D
}

func NewLossWeights(p *Objective) LossWeights {
	l := LossWeights{Form: PerRow, floor: minWeight, span: math.Inf(1)}
	_, bound := p.loss.(framework.Majorizer)
	_, separable := p.loss.(framework.Separable)
	_, radial := p.loss.(framework.Radial)
	if separable || bound && !radial {
		l.Form = PerEntry
	}
	if bound {
		l.floor, l.span = minBoundWeight, weightSpan
	}
	n := p.data.N
	if l.Form == PerEntry {
		n *= p.data.D
	}
	l.W = make([]float64, n)
	return l
}

// Compute writes the weights at the residuals of the problem.
func (l *LossWeights) Compute(p *Objective) error {
	type part struct {
		least float64
		err   error
	}
	parts := make([]part, len(p.sums))
	length := len(l.W) / p.data.N
	par.Do(p.threads, len(parts), func(_, shard int) {
		lo, hi := par.Bounds(p.data.N, shard)
		w, r := l.W[lo*length:hi*length], p.residuals[lo*p.data.D:hi*p.data.D]
		parts[shard].err = l.fill(w, r, p.loss, p.data.D)
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

// fill writes the weights at residuals r of some rows into w.
func (l *LossWeights) fill(w, r []float64, loss framework.Loss, dim int) error {
	if m, ok := loss.(framework.Majorizer); ok {
		return m.Weights(w, r, dim)
	}
	switch loss := loss.(type) {
	case framework.Separable:
		loss.Phi(nil, w, nil, r)
		for k, v := range r {
			if w[k] /= v; v == 0 || v != v {
				w[k] = 0
			}
		}
	case framework.Radial:
		for i := range w {
			row := r[i*dim : (i+1)*dim]
			w[i] = floats.Dot(row, row)
		}
		loss.Rho(nil, w, nil, w)
		floats.Scale(2, w)
	default:
		for i := range w {
			w[i] = 1
		}
	}
	return nil
}

// MaxCoupled is the largest number of entries of Theta that are solved for in one system.
const MaxCoupled = 100
