package dense

import "math"

// JacobiEigen turns the symmetric n x n matrix a into the diagonal one of its
// eigenvalues and writes the eigenvectors into the rows of v, by cyclic
// rotations. It allocates nothing, is accurate to rounding relative to the
// largest eigenvalue, and faster than tridiagonal methods for n below about 10.
//
// Source: G. H. Golub, C. F. Van Loan, Matrix Computations, section 8.5.
func JacobiEigen(a, v []float64, n int) {
	clear(v)
	for i := range n {
		v[i*n+i] = 1
	}
	for range jacobiSweeps {
		var off, diagonal float64
		for i := range n {
			diagonal += float64(a[i*n+i] * a[i*n+i])
			for j := range i {
				off += float64(a[i*n+j] * a[i*n+j])
			}
		}
		if !(off > 1e-34*diagonal) {
			return
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				annihilate(a, v, n, p, q)
			}
		}
	}
}

// annihilate makes entry (p, q) of a zero.
func annihilate(a, v []float64, n, p, q int) {
	apq := a[p*n+q]
	if apq == 0 {
		return
	}
	theta := (a[q*n+q] - a[p*n+p]) / (2 * apq)
	t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(float64(t*t)+1)
	s := t * c
	a[p*n+p] -= float64(t * apq)
	a[q*n+q] += float64(t * apq)
	a[p*n+q], a[q*n+p] = 0, 0
	for k := range n {
		if k != p && k != q {
			x, y := a[k*n+p], a[k*n+q]
			a[k*n+p], a[k*n+q] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
			a[p*n+k], a[q*n+k] = a[k*n+p], a[k*n+q]
		}
		x, y := v[p*n+k], v[q*n+k]
		v[p*n+k], v[q*n+k] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
	}
}

// jacobiSweeps bounds the sweeps of jacobiEigen; six or seven are usual.
const jacobiSweeps = 30
