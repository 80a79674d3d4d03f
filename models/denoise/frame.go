package denoise

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// symmetric finds eigenvectors of symmetric n x n matrices in its own memory.
type symmetric struct {
	n            int
	a            []float64 // n x n, the upper triangle is read
	values, work []float64
}

func newSymmetric(n int) *symmetric {
	s := &symmetric{n: n, a: make([]float64, n*n), values: make([]float64, n)}
	size := []float64{0}
	lapack64.Syev(lapack.EVCompute, s.matrix(), s.values, size, -1)
	s.work = make([]float64, int(size[0]))
	return s
}

func (s *symmetric) matrix() blas64.Symmetric {
	return blas64.Symmetric{N: s.n, Stride: s.n, Uplo: blas.Upper, Data: s.a}
}

// solve turns a into its eigenvectors, the columns in the order of ascending
// values. It is false if there are none.
func (s *symmetric) solve() bool {
	for _, v := range s.a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return lapack64.Syev(lapack.EVCompute, s.matrix(), s.values, s.work, len(s.work))
}

// addOuter adds w x x' to the upper triangle of a.
func addOuter(a []float64, x []float64, w float64) {
	n := len(x)
	for i, v := range x {
		f := w * v
		row := a[i*n : (i+1)*n]
		for j := i; j < n; j++ {
			row[j] += f * x[j]
		}
	}
}

// frame finds the principal directions of the rows of neighbourhoods.
type frame struct {
	D, k   int
	mean   []float64 // D
	axes   []float64 // k x D, by descending variance
	spread []float64 // k: weighted mean squares along the axes
	total  float64   // weighted mean squared distance from the mean
	eigen  *symmetric
	rows   []float64 // n x D: weighted deviations, where n < D
	gram   map[int]*symmetric
	diff   []float64
}

func newFrame(D, k int) *frame {
	return &frame{D: D, k: k, mean: make([]float64, D), axes: make([]float64, k*D), spread: make([]float64, k), diff: make([]float64, D), gram: map[int]*symmetric{}}
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
		f.eigen = newSymmetric(f.D)
	}
	e := f.eigen
	clear(e.a)
	for i, w := range weights {
		floats.SubTo(f.diff, rows[i*f.D:(i+1)*f.D], f.mean)
		addOuter(e.a, f.diff, w/sum)
	}
	f.total = 0
	for j := range f.D {
		f.total += e.a[j*f.D+j]
	}
	if !e.solve() {
		return false
	}
	for k := range f.k {
		from := f.D - 1 - k
		f.spread[k] = max(e.values[from], 0)
		for j := range f.D {
			f.axes[k*f.D+j] = e.a[j*f.D+from]
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
		e = newSymmetric(n)
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
			e.a[k*n+i] = floats.Dot(row, f.rows[k*f.D:(k+1)*f.D])
		}
		f.total += e.a[i*n+i]
	}
	if !e.solve() {
		return false
	}
	for k := range f.k {
		from := n - 1 - k
		f.spread[k] = max(e.values[from], 0)
		axis := f.axis(k)
		clear(axis)
		for i := range n {
			floats.AddScaled(axis, e.a[i*n+from], f.rows[i*f.D:(i+1)*f.D])
		}
	}
	return f.spans() && orthonormalize(f.axes, f.D)
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
		floats.AddScaled(dst, dot(f.axis(k), f.diff), f.axis(k))
	}
}

// orthonormalize makes the rows of a, of length D, orthonormal, in order, twice
// for the sake of digits. It is false if one depends on those before it.
func orthonormalize(a []float64, D int) bool {
	for i := range len(a) / D {
		row := a[i*D : (i+1)*D]
		before := math.Sqrt(dot(row, row))
		if !(before > 0) {
			return false
		}
		scale(row, 1/before)
		for range 2 {
			for j := range i {
				other := a[j*D : (j+1)*D]
				c := dot(row, other)
				for l, v := range other {
					row[l] -= c * v
				}
			}
			norm := math.Sqrt(dot(row, row))
			if !(norm > 1e-10) {
				return false
			}
			scale(row, 1/norm)
		}
	}
	return true
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}
