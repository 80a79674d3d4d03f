package proximal

import (
	"math"

	"github.com/scqm/scqm/framework"
)

const (
	// maxNewton bounds the Newton steps for one tangent vector, maxConjugate the conjugate
	// gradients of each.
	maxNewton, maxConjugate = 100, 200
	// exactness is the largest normal fraction of a tangent vector before it is projected.
	exactness = 1e-6
	// sufficient is the fraction of the predicted decrease that a step must reach.
	sufficient = 1e-4
	// shortest is the relative difference at which a step counts as rounding.
	shortest = 1e-15
	// difference is the relative step of derivatives of proximal maps, which are piecewise smooth.
	difference = 0x1p-20
)

// step finds the tangent vector v at x that minimises g'v + |v|^2/(2t) + h(x + v). On a manifold, v = prox(z + n) - x
// with z = x - t g, for the normal vector n for which the normal part r(n) of v vanishes. r is the gradient of the
// convex function
//
//	psi(z + n) - x'n,  psi(z) = |z|^2/2 - min_y h(y) t + |y - z|^2/2,
//
// which Newton's method minimises, with the generalized derivative of prox by differences.
//
// Source: S. Chen, S. Ma, A. M.-C. So, T. Zhang, Proximal gradient method for nonsmooth
// optimization over the Stiefel manifold, SIAM J. Optim. 30 (2020) 210-239.
type step struct {
	blocks  framework.Product
	penalty Penalty
	flat    bool
	v       framework.Point

	x, n, z, y, r, trial, d, p, q, ahead framework.Point
	t, value                             float64
}

func newStep(blocks []framework.Block, h Penalty) *step {
	s := &step{blocks: blocks, penalty: h, flat: flat(blocks)}
	for _, p := range []*framework.Point{&s.v, &s.n, &s.z, &s.y, &s.r, &s.trial, &s.d, &s.p, &s.q, &s.ahead} {
		*p = framework.NewPoint(blocks)
	}
	return s
}

// solve finds v.
func (s *step) solve(x, g framework.Point, t float64) {
	s.x, s.t = x, t
	s.z.CopyFrom(x)
	s.z.AddScaled(-t, g)
	if s.flat {
		s.penalty.Prox(s.y, s.z, t)
	} else {
		s.n.Zero()
		s.value = s.evaluate(s.n)
		for range maxNewton {
			s.residual()
			if s.r.Norm() <= math.Max(shortest*x.Norm(), exactness*s.v.Norm()) || !s.advance() {
				break
			}
		}
	}
	s.residual()
	if !s.flat {
		s.blocks.Project(s.v, x, s.v)
	}
}

// normal replaces u by its normal part.
func (s *step) normal(u framework.Point) {
	s.blocks.Project(s.ahead, s.x, u)
	u.AddScaled(-1, s.ahead)
}

// evaluate writes prox(z + n) into y and returns the function that Newton's method minimises.
func (s *step) evaluate(n framework.Point) float64 {
	s.ahead.CopyFrom(s.z)
	s.ahead.AddScaled(1, n)
	s.penalty.Prox(s.y, s.ahead, s.t)
	// psi is the conjugate of h t + |.|^2/2: y'(z + n) - h(y) t - |y|^2/2.
	return s.y.Dot(s.ahead) - s.t*s.penalty.Value(s.y) - s.y.Dot(s.y)/2 - s.x.Dot(n)
}

// residual writes v and its normal part.
func (s *step) residual() {
	s.v.CopyFrom(s.y)
	s.v.AddScaled(-1, s.x)
	if !s.flat {
		s.r.CopyFrom(s.v)
		s.normal(s.r)
	}
}

// advance does a Newton step and reports whether it lowers the function.
func (s *step) advance() bool {
	s.direction()
	slope := s.d.Dot(s.r)
	for a := 1.; a > shortest; a /= 2 {
		s.trial.CopyFrom(s.n)
		s.trial.AddScaled(a, s.d)
		value := s.evaluate(s.trial)
		noise := shortest * (math.Abs(s.value) + s.y.Dot(s.y))
		if value <= s.value+sufficient*a*slope+noise {
			s.n, s.trial = s.trial, s.n
			s.value = value
			return true
		}
	}
	s.value = s.evaluate(s.n)
	return false
}

// direction solves (J + m) d = -r by conjugate gradients, with the derivative J of r, which is
// positive semidefinite and at most 1, and an m that goes to 0 with r.
func (s *step) direction() {
	size := s.r.Norm()
	damping := math.Min(1e-2, size/math.Max(1, s.x.Norm()))
	s.d.Zero()
	s.q.CopyFrom(s.r)
	s.q.Scale(-1)
	rest := s.q.Clone()
	s.p.CopyFrom(rest)
	square := rest.Dot(rest)
	for range maxConjugate {
		if math.Sqrt(square) <= 1e-3*math.Min(1, size)*size || square == 0 {
			return
		}
		s.derivative(s.q, s.p)
		s.q.AddScaled(damping, s.p)
		curvature := s.p.Dot(s.q)
		if !(curvature > 0) {
			return
		}
		s.d.AddScaled(square/curvature, s.p)
		rest.AddScaled(-square/curvature, s.q)
		next := rest.Dot(rest)
		s.p.Scale(next / square)
		s.p.AddScaled(1, rest)
		square = next
	}
}

// derivative writes J u, for the normal vector u, into dst.
func (s *step) derivative(dst, u framework.Point) {
	e := difference * math.Max(1, s.x.Norm()) / u.Norm()
	at := s.ahead.Clone()
	at.CopyFrom(s.z)
	at.AddScaled(1, s.n)
	at.AddScaled(e, u)
	s.penalty.Prox(dst, at, s.t)
	at.AddScaled(-2*e, u)
	s.penalty.Prox(at, at, s.t)
	dst.AddScaled(-1, at)
	dst.Scale(1 / (2 * e))
	s.normal(dst)
}
