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
// A = BR is factored by Gram-Schmidt, done twice, and the polar factor of the
// triangle follows by Newton's iteration X <- (g X + X^-T / g) / 2 with
// g = (|X^-1|_F / |X|_F)^1/2, which converges quadratically from all
// nonsingular starts.
//
// Source: N. J. Higham, Computing the polar decomposition - with applications,
// SIAM J. Sci. Stat. Comput. 7 (1986) 1160-1174.
type Polar struct {
	m       int
	b       []float64 // m x n
	r       []float64 // m x m, row-major
	inverse []float64 // m x m
	work    []float64 // m x m
	next    []float64 // m x n
}

const (
	// polarSteps bounds Newton's iteration; from the worst condition that
	// leaves A nonsingular to rounding it takes 10.
	polarSteps = 30
	// polarTolerance is the relative length of a step after which the next
	// would be a rounding error.
	polarTolerance = 1e-9
)

func NewPolar(m, most int) *Polar {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &Polar{m: m, b: vec(m * most), r: vec(m * m), inverse: vec(m * m), work: vec(m * m), next: vec(m * most)}
}

// Factor replaces q by the polar factor of a and returns the distance between the
// two in the Frobenius norm. Where a is singular or not finite it leaves q as
// it is and reports false.
func (p *Polar) Factor(q, a []float64, n int) (float64, bool) {
	if !p.factorize(a, n) || !p.iterate() {
		return 0, false
	}
	next := p.next[:p.m*n]
	clear(next)
	for j := range p.m {
		for i := range p.m {
			floats.AddScaled(next[j*n:(j+1)*n], p.r[i*p.m+j], p.b[i*n:(i+1)*n])
		}
	}
	moved := floats.Distance(next, q, 2)
	copy(q, next)
	return moved, true
}

// factorize computes A = BR with orthonormal B and upper triangular R.
func (p *Polar) factorize(a []float64, n int) bool {
	clear(p.r)
	for j := range p.m {
		b := p.b[j*n : (j+1)*n]
		copy(b, a[j*n:(j+1)*n])
		for range 2 {
			for i := range j {
				other := p.b[i*n : (i+1)*n]
				t := floats.Dot(other, b)
				floats.AddScaled(b, -t, other)
				p.r[i*p.m+j] += t
			}
		}
		length := floats.Norm(b, 2)
		if !(length > 0) || math.IsInf(length, 0) {
			return false
		}
		p.r[j*p.m+j] = length
		floats.Scale(1/length, b)
	}
	return true
}

// iterate replaces R by its polar factor.
func (p *Polar) iterate() bool {
	m := p.m
	for range polarSteps {
		if !p.invert() {
			return false
		}
		g := math.Sqrt(floats.Norm(p.inverse, 2) / floats.Norm(p.r, 2))
		if !(g > 0) || math.IsInf(g, 0) {
			return false
		}
		var change float64
		for i := range m {
			for j := range m {
				old := p.r[i*m+j]
				v := (g*old + p.inverse[j*m+i]/g) / 2
				p.r[i*m+j] = v
				change += (v - old) * (v - old)
			}
		}
		if change <= polarTolerance*polarTolerance*float64(m) {
			return true
		}
	}
	return false
}

// invert writes the inverse of R, by Gauss-Jordan elimination with partial
// pivoting.
func (p *Polar) invert() bool {
	m, a, inv := p.m, p.work, p.inverse
	copy(a, p.r)
	clear(inv)
	for i := range m {
		inv[i*m+i] = 1
	}
	for k := range m {
		best := k
		for i := k + 1; i < m; i++ {
			if math.Abs(a[i*m+k]) > math.Abs(a[best*m+k]) {
				best = i
			}
		}
		pivot := a[best*m+k]
		if pivot == 0 || math.IsNaN(pivot) {
			return false
		}
		swapRows(a, m, k, best)
		swapRows(inv, m, k, best)
		floats.Scale(1/pivot, a[k*m+k:(k+1)*m])
		floats.Scale(1/pivot, inv[k*m:(k+1)*m])
		for i := range m {
			if t := a[i*m+k]; i != k && t != 0 {
				floats.AddScaled(a[i*m+k:(i+1)*m], -t, a[k*m+k:(k+1)*m])
				floats.AddScaled(inv[i*m:(i+1)*m], -t, inv[k*m:(k+1)*m])
			}
		}
	}
	return true
}

func swapRows(a []float64, m, i, j int) {
	if i == j {
		return
	}
	for k := range m {
		a[i*m+k], a[j*m+k] = a[j*m+k], a[i*m+k]
	}
}
