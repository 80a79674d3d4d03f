package dense

import "math"

// Cholesky factors h = LL' below and on the diagonal. If a pivot is not
// larger than least, it restores the diagonal from the upper triangle's copy
// and reports false.
func Cholesky(h []float64, d int, least float64) bool {
	var diagonal [64]float64
	keep := diagonal[:0]
	for i := range d {
		keep = append(keep, h[i*d+i])
	}
	for j := range d {
		pivot := h[j*d+j]
		for k := range j {
			pivot -= h[j*d+k] * h[j*d+k]
		}
		if !(pivot > least) {
			for i := range d { // the upper triangle still holds the matrix
				h[i*d+i] = keep[i]
				for k := range i {
					h[i*d+k] = h[k*d+i]
				}
			}
			return false
		}
		pivot = math.Sqrt(pivot)
		h[j*d+j] = pivot
		for i := j + 1; i < d; i++ {
			v := h[i*d+j]
			for k := range j {
				v -= h[i*d+k] * h[j*d+k]
			}
			h[i*d+j] = v / pivot
		}
	}
	return true
}

// SolveCholesky solves LL'x = b in place.
func SolveCholesky(x, l []float64, d int) {
	for i := range d {
		for k := range i {
			x[i] -= l[i*d+k] * x[k]
		}
		x[i] /= l[i*d+i]
	}
	for i := d - 1; i >= 0; i-- {
		for k := i + 1; k < d; k++ {
			x[i] -= l[k*d+i] * x[k]
		}
		x[i] /= l[i*d+i]
	}
}

// JitteredCholesky overwrites a positive semidefinite matrix with its Cholesky factor,
// after lifting its diagonal a little.
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

// systemJitter is added to the diagonal of a system, relative to it, so that
// rounding cannot make it indefinite.
const systemJitter = 1e-10
