package dense

import "math"

// JacobiEigen overwrites the symmetric n x n matrix a by the diagonal matrix of its
// eigenvalues, and writes the eigenvectors into the rows of v. It uses cyclic rotations
// and allocates nothing. Errors are rounding errors relative to the largest eigenvalue.
// For n below about 10 it is faster than tridiagonal methods.
//
// Source: G. H. Golub, C. F. Van Loan, Matrix Computations, section 8.5.
func JacobiEigen(a, v []float64, n int) {
	if n == 3 {
		jacobiEigen3((*[9]float64)(a), (*[9]float64)(v))
		return
	}
	jacobiEigen(a, v, n)
}

func jacobiEigen(a, v []float64, n int) {
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

// annihilate makes entry (p, q) of a zero by a rotation.
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

// jacobiEigen3 is JacobiEigen for n = 3, without loops within a rotation.
func jacobiEigen3(a, v *[9]float64) {
	*v = [9]float64{0: 1, 4: 1, 8: 1}
	for range jacobiSweeps {
		diagonal := float64(a[0]*a[0]) + float64(a[4]*a[4]) + float64(a[8]*a[8])
		off := float64(a[3]*a[3]) + float64(a[6]*a[6]) + float64(a[7]*a[7])
		if !(off > 1e-34*diagonal) {
			return
		}
		annihilate3(a, v, 0, 1, 2)
		annihilate3(a, v, 0, 2, 1)
		annihilate3(a, v, 1, 2, 0)
	}
}

// annihilate3 makes entry (p, q) of a zero by a rotation; k is the third index.
func annihilate3(a, v *[9]float64, p, q, k int) {
	apq := a[3*p+q]
	if apq == 0 {
		return
	}
	theta := (a[4*q] - a[4*p]) / (2 * apq)
	t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(float64(t*t)+1)
	s := t * c
	a[4*p] -= float64(t * apq)
	a[4*q] += float64(t * apq)
	a[3*p+q], a[3*q+p] = 0, 0
	x, y := a[3*k+p], a[3*k+q]
	u, w := float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
	a[3*k+p], a[3*k+q], a[3*p+k], a[3*q+k] = u, w, u, w
	for j := range 3 {
		x, y := v[3*p+j], v[3*q+j]
		v[3*p+j], v[3*q+j] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
	}
}
