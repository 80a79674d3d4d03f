package dense

import "math"

// Spectral applies functions of a symmetric matrix to vectors without its eigenvectors.
// With the Householder reflections H and the rotations G of the implicit QL method,
//
//	M = H T H',   T = G W G',   f(M) b = H G f(W) G' H' b,
//
// it stores H and G instead of their product: 4n^3/3 operations and some n^2, and 10 n^2 for each vector, while
// eigenvectors take 9 n^3.
//
// Sources: G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed., sections 8.3.1 and
// 8.3.3; H. Bowdler, R. S. Martin, C. Reinsch, J. H. Wilkinson, The QR and QL algorithms for
// symmetric matrices, Numerische Mathematik 11 (1968).
type Spectral struct {
	// Values are the eigenvalues, not sorted.
	Values []float64

	n         int
	m         []float64 // n x n: row k+1 of the lower triangle holds the reflection for column k
	off       []float64 // n: entries beside the diagonal of T
	tau       []float64 // n: 2/v'v of the reflections
	v, w      []float64 // n
	rotations []rotation
}

// rotation rotates the coordinates at and at+1.
type rotation struct {
	at           int
	cosine, sine float64
}

// NewSpectral returns a Spectral for matrices of order n.
func NewSpectral(n int) *Spectral {
	vec := func() []float64 { return make([]float64, n) }
	return &Spectral{n: n, m: make([]float64, n*n), Values: vec(), off: vec(), tau: vec(), v: vec(), w: vec()}
}

// Factorize computes the eigenvalues of a symmetric matrix, from its lower triangle. It
// returns false if the iteration fails, for example because an entry is not finite.
func (s *Spectral) Factorize(matrix []float64) bool {
	n := s.n
	for i := range n {
		row := s.m[i*n : i*n+i+1]
		copy(row, matrix[i*n:])
		for _, v := range row {
			if !Finite(v) {
				return false
			}
		}
	}
	s.tridiagonalize()
	return s.diagonalize()
}

// tridiagonalize reduces the matrix to T from the last row to the first. Each row needs a
// reflection of the coordinates before it, and two products with the remaining rows of the
// lower triangle.
func (s *Spectral) tridiagonalize() {
	n, m := s.n, s.m
	for i := n - 1; i > 0; i-- {
		row := m[i*n : i*n+i]
		s.off[i], s.tau[i] = reflect(row)
		if s.tau[i] == 0 {
			continue
		}
		w := s.w[:i]
		clear(w)
		for j := range i {
			other := m[j*n : j*n+j]
			w[j] += InnerProduct(other, row[:j]) + float64(m[j*n+j]*row[j])
			AddScaled(w[:j], row[j], other)
		}
		Scale(w, s.tau[i])
		AddScaled(w, -s.tau[i]/2*InnerProduct(w, row), row)
		for j := range i {
			other := m[j*n : j*n+j+1]
			AddScaled(other, -row[j], w[:j+1])
			AddScaled(other, -w[j], row[:j+1])
		}
	}
	for i := range n {
		s.Values[i] = m[i*n+i]
	}
}

// reflect overwrites x by the vector v of the reflection I - tau vv' that maps x to a
// multiple of the last axis. That multiple is last.
func reflect(x []float64) (last, tau float64) {
	k := len(x) - 1
	var most float64
	for _, v := range x[:k] {
		most = max(most, math.Abs(v))
	}
	if most == 0 {
		return x[k], 0
	}
	most = max(most, math.Abs(x[k]))
	for i := range x {
		x[i] /= most
	}
	size := math.Sqrt(InnerProduct(x, x))
	last = -math.Copysign(size, x[k])
	x[k] -= last
	return last * most, 1 / (size * math.Abs(x[k]))
}

// maxSweeps bounds the QL steps for an eigenvalue; two or three is usual.
const maxSweeps = 60

// diagonalize overwrites Values, the diagonal of T, by the eigenvalues of T, and stores
// the rotations. off holds the off-diagonal entries.
func (s *Spectral) diagonalize() bool {
	n, d, e := s.n, s.Values, s.off
	s.rotations = s.rotations[:0]
	copy(e, e[min(1, n):]) // e[i] is beside d[i] and d[i+1]
	if n > 0 {
		e[n-1] = 0
	}
	for l := range n {
		for sweep := 0; ; sweep++ {
			end := l
			for end < n-1 && math.Abs(e[end]) > epsilon*(math.Abs(d[end])+math.Abs(d[end+1])) {
				end++
			}
			if end == l {
				break
			}
			if sweep == maxSweeps {
				return false
			}
			s.sweep(l, end)
		}
	}
	return true
}

// epsilon is the distance from 1 to the next larger float64.
const epsilon = 0x1p-52

// sweep does one implicit QL step on the rows first to last.
func (s *Spectral) sweep(first, last int) {
	d, e := s.Values, s.off
	g := (d[first+1] - d[first]) / (2 * e[first])
	g = d[last] - d[first] + e[first]/(g+math.Copysign(Hypotenuse(g, 1), g))
	sine, cosine, p := 1.0, 1.0, 0.0
	for i := last - 1; i >= first; i-- {
		f, b := float64(sine*e[i]), float64(cosine*e[i])
		r := Hypotenuse(f, g)
		e[i+1] = r
		if r == 0 {
			d[i+1] -= p
			e[last] = 0
			return
		}
		sine, cosine = f/r, g/r
		g = d[i+1] - p
		r = float64((d[i]-g)*sine) + float64(2*cosine*b)
		p = float64(sine * r)
		d[i+1] = g + p
		g = float64(cosine*r) - b
		s.rotations = append(s.rotations, rotation{i, cosine, sine})
	}
	d[first] -= p
	e[first], e[last] = g, 0
}

// Hypotenuse is math.Hypot, but faster if squares neither overflow nor underflow.
func Hypotenuse(x, y float64) float64 {
	if sum := float64(x*x) + float64(y*y); sum > squaresFit && sum < 1/squaresFit {
		return math.Sqrt(sum)
	}
	return math.Hypot(x, y)
}

// ToEigen overwrites b by its coordinates in the basis of eigenvectors, in the order of Values.
func (s *Spectral) ToEigen(b []float64) {
	for i := s.n - 1; i > 0; i-- {
		s.reflected(b, i)
	}
	for _, r := range s.rotations {
		x, y := b[r.at], b[r.at+1]
		b[r.at], b[r.at+1] = float64(r.cosine*x)-float64(r.sine*y), float64(r.sine*x)+float64(r.cosine*y)
	}
}

// FromEigen is the inverse of ToEigen.
func (s *Spectral) FromEigen(b []float64) {
	for k := len(s.rotations) - 1; k >= 0; k-- {
		r := s.rotations[k]
		x, y := b[r.at], b[r.at+1]
		b[r.at], b[r.at+1] = float64(r.cosine*x)+float64(r.sine*y), float64(r.cosine*y)-float64(r.sine*x)
	}
	for i := 1; i < s.n; i++ {
		s.reflected(b, i)
	}
}

// reflected applies the reflection of row i to b.
func (s *Spectral) reflected(b []float64, i int) {
	if s.tau[i] == 0 {
		return
	}
	v := s.m[i*s.n : i*s.n+i]
	AddScaled(b[:i], -s.tau[i]*InnerProduct(v, b[:i]), v)
}
