package denoise

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// frame finds the principal directions of the rows of neighbourhoods.
type frame struct {
	D, k   int
	mean   []float64 // D
	axes   []float64 // k x D, by descending variance
	spread []float64 // k: weighted mean squares along the axes
	total  float64   // weighted mean squared distance from the mean
	eigen  *dense.SymmetricEigen
	rows   []float64 // n x D: weighted deviations, where n < D
	gram   map[int]*dense.SymmetricEigen
	diff   []float64
}

func newFrame(D, k int) *frame {
	return &frame{D: D, k: k, mean: make([]float64, D), axes: make([]float64, k*D), spread: make([]float64, k), diff: make([]float64, D), gram: map[int]*dense.SymmetricEigen{}}
}

func (f *frame) axis(k int) []float64 { return f.axes[k*f.D : (k+1)*f.D] }

// find computes mean, axes and spread of rows, n x D, with weights. It is false
// if the rows span fewer dimensions than there are axes to find. Axes of
// equal rows are not determined either.
func (f *frame) find(rows, weights []float64) bool {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	if !(sum > 0) {
		return false
	}
	clear(f.mean)
	first := rows[:f.D]
	for i, w := range weights {
		for j, v := range rows[i*f.D : (i+1)*f.D] {
			f.mean[j] += w / sum * (v - first[j])
		}
	}
	floats.Add(f.mean, first)
	if len(weights) < f.D {
		return f.fromGram(rows, weights, sum)
	}
	return f.fromCovariance(rows, weights, sum)
}

func (f *frame) fromCovariance(rows, weights []float64, sum float64) bool {
	if f.eigen == nil {
		f.eigen = dense.NewSymmetricEigen(f.D)
	}
	e := f.eigen
	clear(e.A)
	for i, w := range weights {
		floats.SubTo(f.diff, rows[i*f.D:(i+1)*f.D], f.mean)
		dense.AddOuterProduct(e.A, f.diff, w/sum)
	}
	f.total = 0
	for j := range f.D {
		f.total += e.A[j*f.D+j]
	}
	if !e.Factorize() {
		return false
	}
	for k := range f.k {
		from := f.D - 1 - k
		f.spread[k] = max(e.Values[from], 0)
		for j := range f.D {
			f.axes[k*f.D+j] = e.A[j*f.D+from]
		}
	}
	return f.spans()
}

// fromGram uses the inner products of the rows, where there are fewer of them
// than columns.
func (f *frame) fromGram(rows, weights []float64, sum float64) bool {
	n := len(weights)
	if n < f.k {
		return false
	}
	e := f.gram[n]
	if e == nil {
		e = dense.NewSymmetricEigen(n)
		f.gram[n] = e
	}
	if len(f.rows) < n*f.D {
		f.rows = make([]float64, n*f.D)
	}
	f.total = 0
	for i, w := range weights {
		row := f.rows[i*f.D : (i+1)*f.D]
		floats.SubTo(row, rows[i*f.D:(i+1)*f.D], f.mean)
		floats.Scale(math.Sqrt(w/sum), row)
		for k := range i + 1 {
			e.A[k*n+i] = floats.Dot(row, f.rows[k*f.D:(k+1)*f.D])
		}
		f.total += e.A[i*n+i]
	}
	if !e.Factorize() {
		return false
	}
	for k := range f.k {
		from := n - 1 - k
		f.spread[k] = max(e.Values[from], 0)
		axis := f.axis(k)
		clear(axis)
		for i := range n {
			floats.AddScaled(axis, e.A[i*n+from], f.rows[i*f.D:(i+1)*f.D])
		}
	}
	return f.spans() && dense.OrthonormalizeRows(f.axes, f.D)
}

// rank is the part of the total spread below which a direction is rounding.
const rank = 1e-20

// spans tells whether all axes are determined by the rows.
func (f *frame) spans() bool { return f.spread[f.k-1] > rank*f.total }

// flat writes the point of the plane through the mean along the axes that is
// nearest to x into dst, which may be x.
func (f *frame) flat(dst, x []float64) {
	floats.SubTo(f.diff, x, f.mean)
	copy(dst, f.mean)
	for k := range f.k {
		floats.AddScaled(dst, dense.Dot(f.axis(k), f.diff), f.axis(k))
	}
}
