package nearest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// absoluteDescent minimises the l1 norm of one row's residual by an active set of entries held at 0, each with
// a multiplier: it descends along the gradient on the set where these vanish, with an exact line search, and adds the
// entry that vanishes there. An entry with a multiplier above 1 leaves the active set. A step takes some 15
// operations for every coefficient of the entries.
//
// Source: I. Barrodale, F. D. K. Roberts, An improved algorithm for discrete l1 linear approximation, SIAM
// Journal on Numerical Analysis 10 (1973) 839-848, for flat sheets; M. L. Overton, Algorithms for nonlinear l1
// and l-infinity fitting, in Nonlinear Optimization 1981, for curved ones.
type absoluteDescent struct {
	*entries
	kinks      Kinks
	active     []int              // entries held at 0
	lam        point              // their multipliers
	sum        polynomial         // of the others, each with its sign
	jac        [maxAbsolute]point // slopes of the active entries
	matrix     [maxAbsolute * maxAbsolute]float64
	quadratics []float64 // 3 x stride: the entries along a line
	held       float64   // half of the second derivative of active entries there, with multipliers
	still      bool      // no step along the zeros was lower
	least      float64   // the sum where the descent ended
	at         point     // there
}

const (
	// maxAbsoluteSteps bounds the steps of one descent, restoreSteps the Newton steps that restore active
	// entries to 0, and maxShorter the step lengths tried.
	maxAbsoluteSteps, restoreSteps, maxShorter = 60, 6, 16
	// vertexPrecision is the largest active entry, relative to the sum of all, up to which they count as 0.
	vertexPrecision = 1e-12
	// multiplierSlack is how far above 1 a multiplier may be.
	multiplierSlack = 1e-9
	// singularGram is the determinant of the Gram matrix of two slopes, relative to the product of its
	// diagonal, that counts as 0.
	singularGram = 0x1p-45
	// flatSlope is the slope along the active set, relative to those of all entries, that counts as 0.
	flatSlope = 1e-12
)

func newAbsoluteDescent(f *sheet.Sheet) absoluteDescent {
	e := newEntries(f)
	return absoluteDescent{entries: e, quadratics: make([]float64, 3*e.stride)}
}

// absoluteSum returns the l1 norm at t. It stores the signed sum of the polynomials of the inactive entries in sum.
func (s *absoluteDescent) absoluteSum(t *point) float64 {
	p, n := powers(t, s.f.Latent), s.terms
	total := dense.SignedSums(s.sum[:n], s.coef, p[:n], s.stride)
	for _, k := range s.active {
		c, v := s.entry(k), 0.0
		for a := range n { // with the rounding of SignedSums
			v += float64(p[a] * c[a])
		}
		if v != 0 {
			s.sum.add(-math.Copysign(1, v), c[:n])
		}
	}
	return total
}

// descend moves from at to a local minimum.
func (s *absoluteDescent) descend() {
	s.active = s.active[:0]
	s.least, s.still = s.absoluteSum(&s.at), false
	for range maxAbsoluteSteps {
		u, let, ok := s.direct()
		if !ok {
			return
		}
		switch {
		case s.step(&u, let):
			s.still = false
		case let >= 0:
			return
		default:
			s.still = true
		}
	}
}

// direct computes the multipliers, a descent direction, and the index in active of the entry that leaves for
// it, or -1; false where there is no descent direction.
func (s *absoluteDescent) direct() (u point, let int, ok bool) {
	d := s.f.Latent
	g := slopes(s.sum[:], &s.at, d)
	if !s.multiply(&g) {
		s.active = s.active[:len(s.active)-1]
		s.least = s.absoluteSum(&s.at)
		return s.direct()
	}
	// What the active entries do not balance.
	rest, size := g, 0.0
	for a := range s.active {
		for j := range d {
			rest[j] += s.lam[a] * s.jac[a][j]
		}
	}
	for j := range d {
		size = max(size, math.Abs(rest[j]))
	}
	if !s.still && len(s.active) < d && size > flatSlope*float64(s.count) {
		floats.ScaleTo(u[:d], -1, rest[:d])
		return u, -1, true
	}
	worst := -1
	for a := range s.active {
		if math.Abs(s.lam[a]) > 1+multiplierSlack && (worst < 0 || math.Abs(s.lam[a]) > math.Abs(s.lam[worst])) {
			worst = a
		}
	}
	if worst < 0 {
		return u, -1, false
	}
	// J u = the sign of the multiplier for the entry let go, and 0 for the others.
	var right point
	right[worst] = math.Copysign(1, s.lam[worst])
	return u, worst, s.leastNorm(&u, &right)
}

// multiply computes the slopes of the active entries and their multipliers for the gradient of the others;
// false where the slopes are linearly dependent.
func (s *absoluteDescent) multiply(g *point) bool {
	d := s.f.Latent
	for a, k := range s.active {
		c := s.entry(k)
		s.jac[a] = slopes(c[:], &s.at, d)
	}
	for a := range s.active {
		s.lam[a] = -dense.Dot(s.jac[a][:d], g[:d])
	}
	return s.solve(&s.lam)
}

// solve solves JJ'b = b for the slopes J of the active entries, and returns false where these are linearly
// dependent.
func (s *absoluteDescent) solve(b *point) bool {
	d, n := s.f.Latent, len(s.active)
	for a := range n {
		for b := range n {
			s.matrix[a*n+b] = dense.Dot(s.jac[a][:d], s.jac[b][:d])
		}
	}
	switch m := &s.matrix; n {
	case 0:
		return true
	case 1:
		b[0] /= m[0]
		return m[0] > 0
	case 2:
		det, size := m[0]*m[3]-m[1]*m[2], m[0]*m[3]
		b[0], b[1] = (m[3]*b[0]-m[1]*b[1])/det, (m[0]*b[1]-m[2]*b[0])/det
		return det > singularGram*size
	}
	return dense.Solve(s.matrix[:n*n], b[:n], n)
}

// leastNorm writes the shortest u with J u = right, for the active entries.
func (s *absoluteDescent) leastNorm(u, right *point) bool {
	d, n := s.f.Latent, len(s.active)
	by := *right
	if !s.solve(&by) {
		return false
	}
	*u = point{}
	for a := range n {
		for j := range d {
			u[j] += by[a] * s.jac[a][j]
		}
	}
	return true
}

// step minimises along u and restores the active entries to 0; it shortens the step where the sum is not lower
// there. It reports whether it moved, or made another entry active.
func (s *absoluteDescent) step(u *point, let int) bool {
	falls, block := s.search(u, let)
	if !falls {
		if block >= 0 && let < 0 {
			s.active = append(s.active, block)
			s.absoluteSum(&s.at)
		}
		return block >= 0 && let < 0
	}
	limit := s.least / floats.Norm(u[:s.f.Latent], 2)
	from, before, sum, held := s.at, s.least, s.sum, [maxAbsolute]int{}
	copy(held[:], s.active)
	count := len(s.active)
	for try := range maxShorter {
		length, hit := s.minimum(limit)
		s.active = append(s.active[:0], held[:count]...)
		if let >= 0 {
			s.active = slices.Delete(s.active, let, let+1)
		}
		if hit >= 0 && len(s.active) < s.f.Latent {
			s.active = append(s.active, hit)
		}
		s.at = from
		for j := range s.f.Latent {
			s.at[j] += length * u[j]
		}
		if s.restore() {
			s.least = s.absoluteSum(&s.at)
			if s.least < before {
				return true
			}
		}
		limit = length / 4
		if try > 2 {
			limit = length / 100
		}
	}
	s.at, s.least, s.sum = from, before, sum
	s.active = append(s.active[:0], held[:count]...)
	return false
}

// restore returns to zeros of the active entries by Newton's method.
func (s *absoluteDescent) restore() bool {
	d, n := s.f.Latent, len(s.active)
	last := math.Inf(1)
	for range restoreSteps {
		var right, u point
		size := 0.0
		for a, k := range s.active {
			c := s.entry(k)
			right[a] = -value(c[:], &s.at, d)
			s.jac[a] = slopes(c[:], &s.at, d)
			size = max(size, math.Abs(right[a]))
		}
		if n == 0 || size <= 0x1p-56*s.least {
			return true
		}
		if size >= last { // Rounding, or no way back
			return size <= vertexPrecision*s.least
		}
		last = size
		if !s.leastNorm(&u, &right) {
			return false
		}
		for j := range d {
			s.at[j] += u[j]
		}
	}
	return last <= vertexPrecision*s.least
}
