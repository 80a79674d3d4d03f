package rows

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// FormAxes holds orthonormal axes B, D x k, that hold n < D rows less their mean, and more as they are
// added, for fits under a loss r'Mr: with c and Q among them residuals are, and B'MB is all that the fit
// knows of M. Rows x_i = mean + BH y_i, with H orthogonal so that H'B'MBH is tridiagonal.
type FormAxes struct {
	d      int
	mean   []float64
	axes   []float64 // k x D
	pulled []float64 // k x D: M times them
	form   []float64 // k x k: B'MB, on and above the diagonal
	rows   Data      // n x n: the rows as coordinates in the first axes
	m      *dense.Positive
	h      *dense.Reflections
}

const (
	// withinAxes is the part of a direction that axes must leave for it to be another.
	withinAxes = 1e-10
	// projections is how often what axes hold of a direction is taken from it: what rounding leaves of
	// it the first time is gone after the second.
	projections = 2
	// someAxes is how many are multiplied with those before them at a time.
	someAxes = 24
)

// NewFormAxes makes the axes that the rows span, in 2nD^2 + 6n^2D operations; n < D.
func NewFormAxes(x Data, m *dense.Positive) *FormAxes {
	span, inside := NewSpan(x)
	f := &FormAxes{d: x.D, mean: span.mean, axes: span.bt, rows: inside, m: m}
	f.extend(0)
	return f
}

// Rows returns the rows in coordinates in which the form, which is returned, too, is tridiagonal.
func (f *FormAxes) Rows() (Data, *dense.Tridiagonal) {
	k, n := f.count(), f.rows.D
	t, h := dense.Tridiagonalize(f.form, k)
	f.h = h
	x := f.rows
	x.D, x.X = k, make([]float64, x.N*k)
	for i := range x.N {
		copy(x.Row(i), f.rows.X[i*n:(i+1)*n])
	}
	h.Rows(x.X, false)
	return x, t
}

// Add takes directions, rows of length D, among the axes as far as they are others. It uses them up, and
// reports whether there were any. The coordinates of [FormAxes.Rows] hold until it is called again.
func (f *FormAxes) Add(directions []float64) bool {
	d, before, count := f.d, f.count(), len(directions)/f.d
	sizes := make([]float64, count)
	for i := range sizes {
		sizes[i] = dense.Norm(directions[i*d : (i+1)*d])
	}
	f.outside(directions)
	for i, size := range sizes {
		v := directions[i*d : (i+1)*d]
		for range projections {
			for a := before; a < f.count(); a++ {
				axis := f.axes[a*d : (a+1)*d]
				dense.AddScaled(v, -dense.InnerProduct(axis, v), axis)
			}
		}
		if left := dense.Norm(v); left > withinAxes*size {
			dense.Scale(v, 1/left)
			f.axes = append(f.axes, v...)
		}
	}
	if f.count() == before {
		return false
	}
	f.extend(before)
	return true
}

// Outside writes into dst, m x D, what M times directions has outside of the axes. Directions are columns of
// inside, k x m, in coordinates of [FormAxes.Rows].
func (f *FormAxes) Outside(dst, inside []float64, m int) {
	k := f.count()
	rows := make([]float64, m*k)
	dense.Transpose(rows, inside, k, m)
	f.h.Rows(rows, true)
	clear(dst)
	dense.AddRowProduct(dst, rows, f.pulled, m, k, f.d)
	f.outside(dst)
}

// outside takes from rows what the axes hold of them.
func (f *FormAxes) outside(x []float64) {
	k, count := f.count(), len(x)/f.d
	inside := make([]float64, count*k)
	for range projections {
		dense.FrameProducts(inside, k, nil, f.axes, nil, x, k, count, f.d)
		floats.Scale(-1, inside)
		dense.AddRowProduct(x, inside, f.axes, count, k, f.d)
	}
}

// extend computes what is to be known of the axes from one on.
func (f *FormAxes) extend(from int) {
	k := f.count()
	f.pulled = append(f.pulled, make([]float64, (k-from)*f.d)...)
	f.m.MultiplyRows(f.pulled[from*f.d:], f.axes[from*f.d:])
	others := make([]float64, (k-from)*k)
	for at := from; at < k; at += someAxes { // what is above the diagonal
		end := min(at+someAxes, k)
		dense.FrameProducts(others[(at-from)*k:], k, nil, f.axes[:end*f.d], nil, f.pulled[at*f.d:end*f.d], end, end-at, f.d)
	}
	form := make([]float64, k*k)
	for i := range from {
		copy(form[i*k:i*k+from], f.form[i*from:(i+1)*from])
	}
	for j := from; j < k; j++ {
		for i, v := range others[(j-from)*k : (j-from)*k+j+1] {
			form[i*k+j], form[j*k+i] = v, v
		}
	}
	f.form = form
}

func (f *FormAxes) count() int { return len(f.axes) / f.d }

// Dims returns the lengths of rows in both coordinates.
func (f *FormAxes) Dims() (inside, outside int) { return f.count(), f.d }

// ShrinkPoint writes the coordinates of a point c.
func (f *FormAxes) ShrinkPoint(dst, c []float64) {
	v := make([]float64, f.d)
	floats.SubTo(v, c, f.mean)
	dense.FrameProducts(dst, f.count(), nil, f.axes, nil, v, f.count(), 1, f.d)
	f.h.Rows(dst, false)
}

// ShrinkFrame writes those of Q, D x m.
func (f *FormAxes) ShrinkFrame(dst, q []float64, m int) {
	k := f.count()
	axes, inside := make([]float64, m*f.d), make([]float64, m*k)
	dense.Transpose(axes, q, f.d, m)
	dense.FrameProducts(inside, k, nil, f.axes, nil, axes, k, m, f.d)
	f.h.Rows(inside, false)
	dense.Transpose(dst, inside, m, k)
}

// ExpandPoint is the inverse of ShrinkPoint.
func (f *FormAxes) ExpandPoint(dst, c []float64) {
	f.ExpandAxes(dst, c)
	floats.Add(dst, f.mean)
}

// ExpandFrame writes Q, D x m, for q of k x m.
func (f *FormAxes) ExpandFrame(dst, q []float64, m int) {
	k := f.count()
	inside, axes := make([]float64, m*k), make([]float64, m*f.d)
	dense.Transpose(inside, q, k, m)
	f.ExpandAxes(axes, inside)
	dense.Transpose(dst, axes, m, f.d)
}

// ExpandAxes writes the rows of dst, of length D, whose coordinates are those of inside.
func (f *FormAxes) ExpandAxes(dst, inside []float64) {
	k := f.count()
	count := len(inside) / k
	turned := append([]float64(nil), inside...)
	f.h.Rows(turned, true)
	clear(dst)
	dense.AddRowProduct(dst, turned, f.axes, count, k, f.d)
}
