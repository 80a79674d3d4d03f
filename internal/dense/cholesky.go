package dense

import "math"

// FactorCholesky overwrites the lower triangle of the symmetric n x n matrix a with L, a = LL'. It returns false,
// with the triangle partly overwritten, if a pivot is not larger than least plus relative times the diagonal entry.
func FactorCholesky(a []float64, n int, least, relative float64) bool {
	for j := range n {
		row, pivot := a[j*n:j*n+j], a[j*n+j]
		limit := least + float64(relative*pivot)
		for _, v := range row {
			pivot -= float64(v * v)
		}
		if !(pivot > limit) {
			return false
		}
		pivot = math.Sqrt(pivot)
		a[j*n+j] = pivot
		inverse := 1 / pivot
		for i := j + 1; i < n; i++ {
			other := a[i*n : i*n+j]
			v := a[i*n+j]
			for k, u := range row {
				v -= float64(other[k] * u)
			}
			a[i*n+j] = v * inverse
		}
	}
	return true
}

// Cholesky is FactorCholesky, but if it fails it restores the lower triangle from the diagonal and the upper
// triangle.
func Cholesky(a []float64, n int, least float64) bool {
	var buffer [16]float64
	diagonal := buffer[:0]
	for i := range n {
		diagonal = append(diagonal, a[i*n+i])
	}
	if FactorCholesky(a, n, least, 0) {
		return true
	}
	for i := range n {
		a[i*n+i] = diagonal[i]
		for k := range i {
			a[i*n+k] = a[k*n+i]
		}
	}
	return false
}

// SolveCholesky solves LL'x = b in place.
func SolveCholesky(x, l []float64, n int) {
	ForwardCholesky(x, l, n)
	BackwardCholesky(x, l, n)
}

// ForwardCholesky solves Lx = b in place.
func ForwardCholesky(x, l []float64, n int) {
	for i := range n {
		v := x[i]
		for k, u := range l[i*n : i*n+i] {
			v -= float64(u * x[k])
		}
		x[i] = v / l[i*n+i]
	}
}

// BackwardCholesky solves L'x = b in place.
func BackwardCholesky(x, l []float64, n int) {
	for i := n - 1; i >= 0; i-- {
		v := x[i] / l[i*n+i]
		x[i] = v
		for k, u := range l[i*n : i*n+i] {
			x[k] -= float64(u * v)
		}
	}
}

// SolveCholeskyRows solves LL'x = b in place for the n x m matrix b.
func SolveCholeskyRows(b, l []float64, n, m int) {
	ForwardCholeskyRows(b, l, n, m)
	BackwardCholeskyRows(b, l, n, m)
}

// ForwardCholeskyRows solves Lx = b in place for the n x m matrix b.
func ForwardCholeskyRows(b, l []float64, n, m int) {
	for i := range n {
		x := b[i*m : (i+1)*m]
		for k, f := range l[i*n : i*n+i] {
			for j, v := range b[k*m : (k+1)*m] {
				x[j] -= float64(f * v)
			}
		}
		inverse := 1 / l[i*n+i]
		for j := range x {
			x[j] *= inverse
		}
	}
}

// BackwardCholeskyRows solves L'x = b in place for the n x m matrix b.
func BackwardCholeskyRows(b, l []float64, n, m int) {
	for i := n - 1; i >= 0; i-- {
		x := b[i*m : (i+1)*m]
		inverse := 1 / l[i*n+i]
		for j := range x {
			x[j] *= inverse
		}
		for k, f := range l[i*n : i*n+i] {
			for j, v := range x {
				b[k*m+j] -= float64(f * v)
			}
		}
	}
}

// StoreCholeskyLane writes the lower triangle of the n x n factor l, row by row, into
// column j of dst, n(n+1)/2 x lanes, which holds the factors of many systems.
func StoreCholeskyLane(dst, l []float64, n, j, lanes int) {
	for i := range n {
		for k := range i + 1 {
			dst[(i*(i+1)/2+k)*lanes+j] = l[i*n+k]
		}
	}
}

// SolveCholeskyLanes solves LL'x = b in place for many systems, one per column of b, n x lanes. l is
// as written by [StoreCholeskyLane]. The result is bit-identical to that of [SolveCholesky].
func SolveCholeskyLanes(b, l []float64, n, lanes int) {
	entry := func(i, k int) []float64 {
		at := (i*(i+1)/2 + k) * lanes
		return l[at : at+lanes]
	}
	for i := range n {
		x := b[i*lanes : (i+1)*lanes]
		for k := range i {
			subtractProducts(x, entry(i, k), b[k*lanes:(k+1)*lanes])
		}
		divideEntries(x, entry(i, i))
	}
	for i := n - 1; i >= 0; i-- {
		x := b[i*lanes : (i+1)*lanes]
		divideEntries(x, entry(i, i))
		for k := range i {
			subtractProducts(b[k*lanes:(k+1)*lanes], entry(i, k), x)
		}
	}
}

// divideEntries writes dst_k / x_k to dst.
func divideEntries(dst, x []float64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] /= x[i]
	}
}

// subtractProducts subtracts x_k y_k from dst_k.
func subtractProducts(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] -= float64(x[i] * y[i])
	}
}

// InvertTransposed overwrites r, which holds a lower triangular L, with L^-T,
// zeros below its diagonal.
func InvertTransposed(r []float64, n int) {
	for j := range n {
		r[j*n+j] = 1 / r[j*n+j]
		for i := j + 1; i < n; i++ { // entry (j, i) of L^-T
			var v float64
			for k := j; k < i; k++ {
				v -= float64(r[i*n+k] * r[j*n+k])
			}
			r[j*n+i] = v / r[i*n+i]
		}
	}
	for i := range n {
		clear(r[i*n : i*n+i])
	}
}

// JitteredCholesky overwrites a positive semidefinite matrix with its Cholesky factor, after raising its diagonal
// slightly.
func JitteredCholesky(a []float64, n int) {
	for i := range n {
		a[i*n+i] *= 1 + systemJitter
		if !(a[i*n+i] > 0) || math.IsInf(a[i*n+i], 0) {
			a[i*n+i] = 1
		}
	}
	if Cholesky(a, n, 0) {
		return
	}
	for i := range n { // rounding won: keep the diagonal
		d := a[i*n+i]
		clear(a[i*n : (i+1)*n])
		a[i*n+i] = math.Sqrt(d)
	}
}

// systemJitter is the relative amount added to the diagonal of a system, so that rounding
// cannot make it indefinite.
const systemJitter = 1e-10
