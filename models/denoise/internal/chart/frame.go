package chart

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Frame computes the principal directions of the rows of neighbourhoods.
type Frame struct {
	D, K   int
	Mean   []float64 // D
	Axes   []float64 // k x D, by descending variance
	spread []float64 // k: weighted mean squares along the axes
	total  float64   // weighted mean squared distance from the mean
	eigen  *dense.SymmetricEigen
	rows   []float64 // n x D: weighted deviations, if n < D
	gram   map[int]*dense.SymmetricEigen
	Diff   []float64
}

func NewFrame(D, k int) *Frame {
	return &Frame{D: D, K: k, Mean: make([]float64, D), Axes: make([]float64, k*D), spread: make([]float64, k), Diff: make([]float64, D), gram: map[int]*dense.SymmetricEigen{}}
}

func (f *Frame) Axis(k int) []float64 { return f.Axes[k*f.D : (k+1)*f.D] }

// Find computes the weighted mean, the principal axes and the spread of rows, n x D. It returns false if the rows span
// fewer dimensions than the number of axes, or if equal variances leave the axes undetermined.
func (f *Frame) Find(rows, weights []float64) bool {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	if !(sum > 0) {
		return false
	}
	clear(f.Mean)
	first := rows[:f.D]
	for i, w := range weights {
		for j, v := range rows[i*f.D : (i+1)*f.D] {
			f.Mean[j] += w / sum * (v - first[j])
		}
	}
	floats.Add(f.Mean, first)
	if len(weights) < f.D {
		return f.fromGram(rows, weights, sum)
	}
	return f.fromCovariance(rows, weights, sum)
}

func (f *Frame) fromCovariance(rows, weights []float64, sum float64) bool {
	if f.eigen == nil {
		f.eigen = dense.NewSymmetricEigen(f.D)
	}
	e := f.eigen
	clear(e.A)
	for i, w := range weights {
		floats.SubTo(f.Diff, rows[i*f.D:(i+1)*f.D], f.Mean)
		dense.AddOuterProduct(e.A, f.Diff, w/sum)
	}
	f.total = 0
	for j := range f.D {
		f.total += e.A[j*f.D+j]
	}
	if !e.Factorize() {
		return false
	}
	for k := range f.K {
		from := f.D - 1 - k
		f.spread[k] = max(e.Values[from], 0)
		for j := range f.D {
			f.Axes[k*f.D+j] = e.A[j*f.D+from]
		}
	}
	return f.spans()
}

// fromGram uses the inner products of the rows, if there are fewer rows than columns.
func (f *Frame) fromGram(rows, weights []float64, sum float64) bool {
	n := len(weights)
	if n < f.K {
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
		floats.SubTo(row, rows[i*f.D:(i+1)*f.D], f.Mean)
		floats.Scale(math.Sqrt(w/sum), row)
		for k := range i + 1 {
			e.A[k*n+i] = floats.Dot(row, f.rows[k*f.D:(k+1)*f.D])
		}
		f.total += e.A[i*n+i]
	}
	if !e.Factorize() {
		return false
	}
	for k := range f.K {
		from := n - 1 - k
		f.spread[k] = max(e.Values[from], 0)
		axis := f.Axis(k)
		clear(axis)
		for i := range n {
			floats.AddScaled(axis, e.A[i*n+from], f.rows[i*f.D:(i+1)*f.D])
		}
	}
	return f.spans() && dense.OrthonormalizeRows(f.Axes, f.D)
}

// Rounding is the fraction of the total spread below which a direction is due to rounding.
const Rounding = 1e-20

// spans reports whether all axes are determined by the rows.
func (f *Frame) spans() bool { return f.spread[f.K-1] > Rounding*f.total }

// Flat writes the point of the plane through the mean along the axes that is
// nearest to x into dst, which may be x.
func (f *Frame) Flat(dst, x []float64) {
	floats.SubTo(f.Diff, x, f.Mean)
	copy(dst, f.Mean)
	for k := range f.K {
		floats.AddScaled(dst, dense.Dot(f.Axis(k), f.Diff), f.Axis(k))
	}
}

// Noise estimates the standard deviation of n rows normal to the plane, in each of the D-d directions.
func (f *Frame) Noise(n int) float64 {
	left := f.total
	for _, v := range f.spread {
		left -= v
	}
	free := float64(n-f.K-1) / float64(n) * float64(f.D-f.K)
	if !(free > 0) {
		return 0
	}
	return math.Sqrt(max(left, 0) / free)
}
