package scqm

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// gatheredLoss is a loss sum_k phi(r_k) of rows whose last entry stands for several columns in which
// residuals are the same, and is their norm:
//
//	sum_(k < D) phi(r_k) + count phi(r_D / sqrt(count)).
//
// Callers hand over whole rows, of one length. r is changed during a call, and as it was after it.
type gatheredLoss struct {
	evenLoss
	dim         int
	count, root float64
}

// evenLoss is what a loss has to be for that.
type evenLoss interface {
	framework.Separable
	framework.SecondOrder
	framework.Minorizer
}

func newGatheredLoss(loss evenLoss, dim, count int) *gatheredLoss {
	return &gatheredLoss{loss, dim, float64(count), math.Sqrt(float64(count))}
}

// Evaluate implements [framework.Loss].
func (l *gatheredLoss) Evaluate(values, grad, r []float64, dim int) error {
	n := len(r) / l.dim
	last := make([]float64, 2*n)
	l.shrink(last[:n], r)
	err := l.evenLoss.Evaluate(values, grad, r, dim)
	if values != nil && err == nil {
		phi, shrunk := last[n:], make([]float64, n)
		for i, v := range last[:n] {
			shrunk[i] = v / l.root
		}
		l.evenLoss.Phi(phi, nil, nil, shrunk)
		for i, v := range phi {
			values[i] += (l.count - 1) * v
		}
	}
	if grad == nil || &grad[0] != &r[0] {
		l.restore(r, last)
	}
	if grad != nil {
		l.scale(grad, l.root)
	}
	return err
}

// Phi implements [framework.Separable], for whole rows.
func (l *gatheredLoss) Phi(phi, d1, d2, r []float64) {
	last := make([]float64, len(r)/l.dim)
	l.shrink(last, r)
	l.evenLoss.Phi(phi, d1, d2, r)
	if d1 == nil || &d1[0] != &r[0] {
		l.restore(r, last)
	}
	if phi != nil {
		l.scale(phi, l.count)
	}
	if d1 != nil {
		l.scale(d1, l.root)
	}
}

// HessianProduct implements [framework.SecondOrder].
func (l *gatheredLoss) HessianProduct(dst, r, v []float64, dim int) error {
	last := make([]float64, len(r)/l.dim)
	l.shrink(last, r)
	defer l.restore(r, last)
	return l.evenLoss.HessianProduct(dst, r, v, dim)
}

// LowerWeights implements [framework.Minorizer].
func (l *gatheredLoss) LowerWeights(w, r []float64, dim int) error {
	last := make([]float64, len(r)/l.dim)
	l.shrink(last, r)
	defer l.restore(r, last)
	return l.evenLoss.LowerWeights(w, r, dim)
}

// shrink divides the last entries of rows, which it keeps in last.
func (l *gatheredLoss) shrink(last, r []float64) {
	for i := range last {
		at := (i+1)*l.dim - 1
		last[i] = r[at]
		r[at] /= l.root
	}
}

// restore undoes shrink.
func (l *gatheredLoss) restore(r, last []float64) {
	for i := range len(r) / l.dim {
		r[(i+1)*l.dim-1] = last[i]
	}
}

// scale multiplies the last entries of rows.
func (l *gatheredLoss) scale(x []float64, by float64) {
	for at := l.dim - 1; at < len(x); at += l.dim {
		x[at] *= by
	}
}
