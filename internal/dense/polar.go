package dense

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Polar computes polar factors A (A'A)^-1/2 of n x m matrices, n >= m: of all
// matrices with orthonormal columns the one that maximises tr(Q'A), the
// solution of the orthogonal Procrustes problem. Matrices are held by columns:
// m rows of length n.
//
// If n > m, A = BR is factored by Gram-Schmidt, done twice. The polar factor of A is B times that of R. The polar
// factor of a square matrix is computed by Newton's iteration X <- (g X + X^-T / g) / 2 with g = (|X^-1|_F /
// |X|_F)^1/2, which converges quadratically from all nonsingular starts.
//
// Source: N. J. Higham, Computing the polar decomposition - with applications,
// SIAM J. Sci. Stat. Comput. 7 (1986) 1160-1174.
type Polar struct {
	m       int
	b       []float64 // m x n
	r       []float64 // m x m: R', then its polar factor
	inverse []float64 // m x m
	next    []float64 // m x n
	inverter
}

const (
	// polarSteps bounds Newton's iteration; from the worst condition that
	// leaves A nonsingular to rounding it takes 10.
	polarSteps = 30
	// polarTolerance is the relative step length after which the next step would be a rounding error.
	polarTolerance = 1e-9
)

// NewPolar returns a Polar for n x m matrices with n up to most.
func NewPolar(m, most int) *Polar {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &Polar{m: m, b: vec(m * most), r: vec(m * m), inverse: vec(m * m), next: vec(m * most), inverter: newInverter(m)}
}

// Factor overwrites q by the polar factor of a, and returns the Frobenius distance between
// the old and the new q. If a is singular or not finite, it leaves q unchanged and returns
// false.
func (p *Polar) Factor(q, a []float64, n int) (float64, bool) {
	next := p.next[:p.m*n]
	if n == p.m {
		copy(p.r, a[:n*n])
		next = p.r
	} else if !p.factorize(a, n) {
		return 0, false
	}
	if !p.iterate() {
		return 0, false
	}
	if n > p.m {
		clear(next)
		AddRowProduct(next, p.r, p.b, p.m, p.m, n)
	}
	moved := Distance(next, q[:len(next)])
	copy(q, next)
	return moved, true
}

// factorize computes A = BR with orthonormal B and upper triangular R.
func (p *Polar) factorize(a []float64, n int) bool {
	clear(p.r)
	for j := range p.m {
		b, r := p.b[j*n:(j+1)*n], p.r[j*p.m:(j+1)*p.m]
		copy(b, a[j*n:(j+1)*n])
		for range 2 {
			for i := range j {
				other := p.b[i*n : (i+1)*n]
				t := floats.Dot(other, b)
				floats.AddScaled(b, -t, other)
				r[i] += t
			}
		}
		length := Norm(b)
		if !(length > 0) || math.IsInf(length, 0) {
			return false
		}
		r[j] = length
		floats.Scale(1/length, b)
	}
	return true
}

// iterate replaces R' by its polar factor, by Newton's iteration.
func (p *Polar) iterate() bool {
	m := p.m
	for range polarSteps {
		copy(p.inverse, p.r)
		if !p.invert(p.inverse) {
			return false
		}
		g := math.Sqrt(Norm(p.inverse) / Norm(p.r))
		if !(g > 0) || math.IsInf(g, 0) {
			return false
		}
		var change float64
		own, other := g/2, 1/(2*g)
		for i := range m {
			for j, old := range p.r[i*m : (i+1)*m] {
				v := float64(own*old) + float64(other*p.inverse[j*m+i])
				p.r[i*m+j] = v
				change += float64((v - old) * (v - old))
			}
		}
		if change <= polarTolerance*polarTolerance*float64(m) {
			return true
		}
	}
	return false
}
