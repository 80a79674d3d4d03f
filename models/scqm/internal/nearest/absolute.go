package nearest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// leastAbsolute finds the point of a sheet nearest to a row in the l1 norm. For a flat sheet the minimum is a vertex:
// a point at which d entries of the residual are 0. It is found along edges. Each round of a descent takes the d
// entries nearest to 0 as the vertex. Then it minimises exactly along each descending edge, the line on which all of
// these entries but one are constant to first order. On a line every entry is a quadratic: see [Kinks]. The first round
// of the first descent searches whole lines, so that the result is exact for d = 1.
//
// Source: I. Barrodale, F. D. K. Roberts, An improved algorithm for discrete l1 linear approximation, SIAM
// Journal on Numerical Analysis 10 (1973) 839-848, for flat sheets.
type leastAbsolute struct {
	f     *sheet.Sheet
	x     []float64
	kinks Kinks
	best  float64   // the least sum found
	tau   []float64 // d: its minimiser

	sum, moved  float64   // of the descent: sum at the current point, length of the last round
	at, r       []float64 // d, D: current point of the descent, and its residual
	trial, next []float64 // d, D: trial point, and its residual
	before      []float64 // d: point at the start of the round
	vertex      []int     // d: the entries nearest to 0
	edges       []float64 // d x d: slopes of these entries
	matrix      []float64 // d x d
	u, gradient []float64 // d: a direction, the gradient at the point
	stale       bool      // the gradient is that at another point
	jac         []float64 // m x d: of z
	slopes      []float64 // d x D: of the entries
	b, c        []float64 // D: of the quadratics along a line
	z, phi      []float64 // m, q
}

const (
	// absoluteRounds bounds the rounds of a descent. A descent ends when a round lowers the sum by less than the
	// fraction lastDecrease, or when the first round ends above hopeless times the least sum.
	absoluteRounds, lastDecrease, hopeless = 20, 1e-7, 2
	// vanishing is the largest entry, relative to the sum, that counts as 0.
	vanishing = 1e-12
	// leastSlope is the squared slope below which an entry is constant.
	leastSlope = 1e-20
)

// SumsAbsolutes reports whether a loss is the l1 norm, the sum of the absolute values of the entries.
func SumsAbsolutes(loss framework.Loss) bool {
	_, sum := loss.(framework.Separable)
	ball, norm := loss.(rowloss.SupportFunction)
	if !sum || !norm {
		return false
	}
	ends := []float64{math.Inf(-1), math.Inf(1)}
	ball.ProjectDual(ends, 1)
	return ends[0] == -1 && ends[1] == 1
}

// newLeastAbsolute returns a search on the sheet f, which may change. It returns nil if the loss is not l1.
func newLeastAbsolute(f *sheet.Sheet, loss framework.Loss) *leastAbsolute {
	if !SumsAbsolutes(loss) {
		return nil
	}
	d, D := f.Latent, f.D
	vec := func(n int) []float64 { return make([]float64, n) }
	return &leastAbsolute{
		f: f, tau: vec(d), at: vec(d), r: vec(D), trial: vec(d), next: vec(D), before: vec(d), vertex: make([]int, d),
		edges: vec(d * d), matrix: vec(d * d), u: vec(d), gradient: vec(d), jac: vec(f.M * d), slopes: vec(d * D),
		b: vec(D), c: vec(D), z: vec(f.M), phi: vec(f.Q),
	}
}

// begin starts a descent from tau, a point of the sheet nearest to x in the Euclidean norm.
func (s *leastAbsolute) begin(tau, x []float64) {
	s.x, s.best = x, math.Inf(1)
	s.from(tau)
}

// from runs a descent from a start, and keeps the point if it is the best so far.
func (s *leastAbsolute) from(start []float64) {
	copy(s.at, start)
	s.sum = s.residual(s.r, s.at)
	s.moved = 2 * s.sum
	first := math.IsInf(s.best, 1)
	for round := range absoluteRounds {
		before := s.sum
		copy(s.before, s.at)
		if !s.choose() {
			break
		}
		s.stale = true // as the vertex is another
		for j := range s.u {
			s.along(j, first && round == 0)
		}
		s.moved = floats.Distance(s.before, s.at, 2)
		if !(s.sum < before*(1-lastDecrease)) || s.sum > hopeless*s.best {
			break
		}
	}
	if s.sum < s.best || first {
		s.best = s.sum
		copy(s.tau, s.at)
	}
}

// residual writes the residual at tau into r, and returns the sum of its absolute entries.
func (s *leastAbsolute) residual(r, tau []float64) float64 {
	s.f.Coordinates(s.z, s.phi, tau)
	s.f.Residual(r, s.z, s.x)
	return floats.Norm(r, 1)
}

// choose lists d entries with linearly independent slopes that are 0 nearest to the point, to first order. It measures
// the distance of each on the set on which the earlier ones do not change. It returns false if there are fewer than d.
func (s *leastAbsolute) choose() bool {
	f, d, D := s.f, s.f.Latent, s.f.D
	f.Jacobian(s.jac, s.at)
	clear(s.slopes)
	for k := range f.M {
		for j, v := range s.jac[k*d : (k+1)*d] {
			if v != 0 {
				dense.AddScaled(s.slopes[j*D:(j+1)*D], v, f.Axis(k))
			}
		}
	}
	for i := range d {
		least, pick := math.Inf(1), -1
		for k, r := range s.r {
			var square float64
			for j := k; j < len(s.slopes); j += D {
				square += s.slopes[j] * s.slopes[j]
			}
			if r*r < least*square && square > leastSlope {
				least, pick = r*r/square, k
			}
		}
		if pick < 0 {
			return false
		}
		if s.vertex[i] = pick; i == d-1 {
			break
		}
		for j := range d {
			s.u[j] = s.slopes[j*D+pick]
		}
		floats.Scale(1/floats.Norm(s.u, 2), s.u)
		clear(s.b)
		for j, v := range s.u {
			dense.AddScaled(s.b, v, s.slopes[j*D:(j+1)*D])
		}
		for j, v := range s.u {
			dense.AddScaled(s.slopes[j*D:(j+1)*D], -v, s.b)
		}
	}
	for i, k := range s.vertex {
		for j := range d {
			s.edges[i*d+j] = 0
			for a := range f.M {
				s.edges[i*d+j] += f.QT[a*D+k] * s.jac[a*d+j]
			}
		}
	}
	return true
}

// solve replaces u by J^-1 u. The rows of J are the slopes of the entries of the vertex.
func (s *leastAbsolute) solve() bool {
	copy(s.matrix, s.edges)
	return dense.Solve(s.matrix, s.u, len(s.u))
}

// step moves tau by t u if this lowers the sum.
func (s *leastAbsolute) step(t float64) {
	floats.AddScaledTo(s.trial, s.at, t, s.u)
	if sum := s.residual(s.next, s.trial); sum < s.sum {
		s.sum, s.at, s.r, s.trial, s.next = sum, s.trial, s.next, s.at, s.r
		s.stale = true
	}
}

// differentiate writes the gradient of the sum of the absolute values of the nonzero entries.
func (s *leastAbsolute) differentiate() {
	for k, v := range s.r {
		s.b[k] = math.Copysign(1, v)
	}
	for _, k := range s.vertex {
		if s.vanishes(k) {
			s.b[k] = 0
		}
	}
	s.f.ToFrame(s.z, s.b)
	s.f.TauGradient(s.gradient, s.phi, s.at, s.z)
	s.stale = false
}

func (s *leastAbsolute) vanishes(k int) bool { return math.Abs(s.r[k]) <= vanishing*s.sum }

// along minimises along the edge on which entry j of the vertex changes. It searches the whole line or, where the sum
// falls, as far as the last round moved.
func (s *leastAbsolute) along(j int, whole bool) {
	clear(s.u)
	s.u[j] = 1
	if !s.solve() {
		return
	}
	size := floats.Norm(s.u, 2)
	from, to := -2*s.sum/size, 2*s.sum/size
	if !whole {
		if s.stale {
			s.differentiate()
		}
		slope, kink := floats.Dot(s.gradient, s.u), 0.0
		if s.vanishes(s.vertex[j]) {
			kink = 1
		}
		if math.Abs(slope) <= kink {
			return
		}
		if slope > 0 {
			floats.Scale(-1, s.u)
		}
		from, to = 0, min(s.sum, s.moved)/size
	}
	s.quadratics()
	if least, t := s.kinks.Least(s.r, s.b, s.c, from, to); least < s.sum {
		s.step(t)
	}
}

// quadratics writes the coefficients of the residual entries, which are quadratics along u.
func (s *leastAbsolute) quadratics() {
	f, d := s.f, s.f.Latent
	f.Jacobian(s.jac, s.at)
	clear(s.b)
	for k := range f.M {
		if v := floats.Dot(s.jac[k*d:(k+1)*d], s.u); v != 0 {
			dense.AddScaled(s.b, v, f.Axis(k))
		}
	}
	sheet.Vech(s.phi, s.u)
	f.Quadratic(s.z[d:], s.phi)
	clear(s.c)
	for k, v := range s.z[d:] {
		dense.AddScaled(s.c, v, f.Axis(d+k))
	}
}
