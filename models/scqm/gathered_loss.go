package scqm

import (
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
)

// gatheredLoss is a loss sum_k phi(r_k) of rows whose last entry stands for several columns in which
// residuals are the same, and is their norm:
//
//	sum_(k < D) phi(r_k) + count phi(r_D / sqrt(count)).
//
// Callers hand over whole rows, of one length.
type gatheredLoss struct {
	evenLoss
	dim         int
	count, root float64
}

// evenLoss is the interface of losses that can be gathered.
type evenLoss interface {
	framework.Separable
	framework.SecondOrder
}

func newGatheredLoss(loss evenLoss, dim, count int) *gatheredLoss {
	return &gatheredLoss{loss, dim, float64(count), math.Sqrt(float64(count))}
}

// Evaluate implements [framework.Loss].
func (l *gatheredLoss) Evaluate(values, grad, r []float64, dim int) error {
	r = l.entries(r)
	if err := l.evenLoss.Evaluate(values, grad, r, dim); err != nil {
		return err
	}
	if values != nil {
		last, phi := make([]float64, len(values)), make([]float64, len(values))
		for i := range last {
			last[i] = r[(i+1)*l.dim-1]
		}
		l.evenLoss.Phi(phi, nil, nil, last)
		for i, v := range phi {
			values[i] += (l.count - 1) * v
		}
	}
	l.scale(grad, l.root)
	return nil
}

// Phi implements [framework.Separable], for whole rows.
func (l *gatheredLoss) Phi(phi, d1, d2, r []float64) {
	l.evenLoss.Phi(phi, d1, d2, l.entries(r))
	l.scale(phi, l.count)
	l.scale(d1, l.root)
}

// HessianProduct implements [framework.SecondOrder].
func (l *gatheredLoss) HessianProduct(dst, r, v []float64, dim int) error {
	return l.evenLoss.HessianProduct(dst, l.entries(r), v, dim)
}

// entries returns rows with the residual of one of the columns as their last entry.
func (l *gatheredLoss) entries(r []float64) []float64 {
	r = slices.Clone(r)
	l.scale(r, 1/l.root)
	return r
}

// scale multiplies the last entries of rows.
func (l *gatheredLoss) scale(x []float64, by float64) {
	for at := l.dim - 1; at < len(x); at += l.dim {
		x[at] *= by
	}
}
