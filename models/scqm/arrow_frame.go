package scqm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// frame is an orthonormal basis of R^D that begins with the columns of Q.
type frame struct {
	f    *sheet
	w    []float64 // D x D: its vectors as rows
	left []float64 // D: squared distance of every coordinate axis from the rows so far

	moved, next []float64 // m x D
	gram, turn  []float64 // m x m
	root        []float64 // m x m
}

func newFrame(f *sheet) *frame {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &frame{
		f: f, w: vec(f.D * f.D), left: vec(f.D), moved: vec(f.m * f.D), next: vec(f.m * f.D),
		gram: vec(f.m * f.m), turn: vec(f.m * f.m), root: vec(f.m * f.m),
	}
}

// axis returns vector r of the frame.
func (b *frame) axis(r int) []float64 { return b.w[r*b.f.D : (r+1)*b.f.D] }

// complete makes the frame of the sheet: the columns of Q, then the coordinate
// axes furthest from the rows so far, orthogonalised. It depends on Q only.
func (b *frame) complete() {
	D, m := b.f.D, b.f.m
	copy(b.w, b.f.qt)
	if m == D {
		return
	}
	for j := range b.left {
		b.left[j] = 1
		for i := range m {
			b.left[j] -= b.w[i*D+j] * b.w[i*D+j]
		}
	}
	for i := m; i < D; i++ {
		row := b.axis(i)
		clear(row)
		row[floats.MaxIdx(b.left)] = 1
		orthogonalizeRow(b.w, i, D)
		for j, v := range row {
			b.left[j] -= v * v
		}
	}
}

// see writes the coordinates of x - c in the frame into y.
func (b *frame) see(y, x []float64) {
	D, c := b.f.D, b.f.c
	for r := range y {
		axis := b.w[r*D : (r+1)*D]
		var sum float64
		for j, v := range axis {
			sum += v * (x[j] - c[j])
		}
		y[r] = sum
	}
}

// sight is what is seen of all rows in a frame.
type sight struct {
	y    []float64 // n x D: W'(x - c)
	c, q []float64 // the c and Q' to which y belongs
	// version is that of the data to which y belongs.
	version uint64
	kept    bool
}

func newSight(f *sheet, n int) sight {
	return sight{y: make([]float64, n*f.D), c: make([]float64, f.D), q: make([]float64, f.m*f.D)}
}

// at reports whether y belongs to the sheet and a version of the data.
func (s *sight) at(f *sheet, version uint64) bool {
	return s.kept && s.version == version && slices.Equal(s.c, f.c) && slices.Equal(s.q, f.qt)
}

// keep says that y was computed for the sheet and a version of the data.
func (s *sight) keep(f *sheet, version uint64) {
	copy(s.c, f.c)
	copy(s.q, f.qt)
	s.kept, s.version = true, version
}

// orthonormalize replaces moved, Q plus a tangent vector by columns, by its
// polar factor Y (Y'Y)^-1/2. It reports false where moved is not finite.
func (b *frame) orthonormalize() bool {
	D, m := b.f.D, b.f.m
	for i := range m {
		for j := range i + 1 {
			v := dot(b.moved[i*D:(i+1)*D], b.moved[j*D:(j+1)*D])
			b.gram[i*m+j], b.gram[j*m+i] = v, v
		}
	}
	if s := floats.Sum(b.gram); s-s != 0 {
		return false
	}
	jacobiEigen(b.gram, b.turn, m)
	for i := range m {
		for j := range i + 1 {
			var v float64
			for k := range m {
				v += b.turn[k*m+i] * b.turn[k*m+j] / math.Sqrt(b.gram[k*m+k])
			}
			b.root[i*m+j], b.root[j*m+i] = v, v
		}
	}
	clear(b.next)
	for i := range m {
		row := b.next[i*D : (i+1)*D]
		for j, v := range b.root[i*m : (i+1)*m] {
			for k, u := range b.moved[j*D : (j+1)*D] {
				row[k] += v * u
			}
		}
	}
	b.moved, b.next = b.next, b.moved
	return true
}

// dot is the inner product of short vectors.
func dot(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// jacobiSweeps bounds the sweeps of jacobiEigen; six or seven are usual.
const jacobiSweeps = 30

// jacobiEigen turns the symmetric n x n matrix a into the diagonal one of its
// eigenvalues and writes the eigenvectors into the rows of v, by cyclic
// rotations. It allocates nothing, is accurate to rounding relative to the
// largest eigenvalue, and faster than tridiagonal methods for n below about 10.
//
// Source: G. H. Golub, C. F. Van Loan, Matrix Computations, section 8.5.
func jacobiEigen(a, v []float64, n int) {
	clear(v)
	for i := range n {
		v[i*n+i] = 1
	}
	for range jacobiSweeps {
		var off, diagonal float64
		for i := range n {
			diagonal += a[i*n+i] * a[i*n+i]
			for j := range i {
				off += a[i*n+j] * a[i*n+j]
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
	t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	a[p*n+p] -= t * apq
	a[q*n+q] += t * apq
	a[p*n+q], a[q*n+p] = 0, 0
	for k := range n {
		if k != p && k != q {
			x, y := a[k*n+p], a[k*n+q]
			a[k*n+p], a[k*n+q] = c*x-s*y, s*x+c*y
			a[p*n+k], a[q*n+k] = a[k*n+p], a[k*n+q]
		}
		x, y := v[p*n+k], v[q*n+k]
		v[p*n+k], v[q*n+k] = c*x-s*y, s*x+c*y
	}
}
