package columns

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// step is a move of all unknowns: of (c, Q), D x a, and of Theta and tau.
type step struct{ du, dv []float64 }

func (s *system) newStep() step {
	return step{make([]float64, s.D*s.a), make([]float64, s.nv)}
}

func (t step) copy(from step) {
	copy(t.du, from.du)
	copy(t.dv, from.dv)
}

// gradients writes the derivatives of g'r by (c, Q), by Theta and by tau.
func (s *system) gradients(gu, gv, g []float64) {
	a, d := s.a, s.Latent
	clear(gu)
	clear(gv)
	dir := s.dir
	for k := range s.D {
		s.direction(dir, k)
		v := s.sheet.Q[k*s.m+d : (k+1)*s.m]
		for i, u := range g[k*s.N : (k+1)*s.N] {
			for b, z := range s.at.z[i*a : (i+1)*a] {
				gu[k*a+b] += float64(u * z)
			}
			for e, y := range s.at.phi[i*s.q : (i+1)*s.q] {
				for b, h := range v {
					gv[e*s.S+b] += float64(u * y * h)
				}
			}
			for e := range d {
				gv[s.nT+i*d+e] += float64(u * dir[i*d+e])
			}
		}
	}
}

// linear writes the change of the residuals to first order.
func (s *system) linear(dr []float64, t step) {
	a, d := s.a, s.Latent
	dir := s.dir
	bent := s.inV
	clear(bent)
	for i := range s.N {
		for e, y := range s.at.phi[i*s.q : (i+1)*s.q] {
			for b := range s.S {
				bent[i*s.S+b] += float64(y * t.dv[e*s.S+b])
			}
		}
	}
	for k := range s.D {
		s.direction(dir, k)
		v, u := s.sheet.Q[k*s.m+d:(k+1)*s.m], t.du[k*a:(k+1)*a]
		for i := range s.N {
			sum := dense.InnerProduct(s.at.z[i*a:(i+1)*a], u)
			for b, h := range v {
				sum += float64(h * bent[i*s.S+b])
			}
			for e := range d {
				sum += float64(dir[i*d+e] * t.dv[s.nT+i*d+e])
			}
			dr[k*s.N+i] = sum
		}
	}
}

// turning writes the symmetric part of Q' gu, negated: the multipliers of Q'Q = I that leave the least of gu.
func (p *Problem) turning(l, q, gu []float64) {
	clear(l)
	for k := range p.D {
		for b, v := range q[k*p.m : (k+1)*p.m] {
			for e := range p.m {
				u := .5 * v * gu[k*p.a+1+e]
				l[b*p.m+e] -= u
				l[e*p.m+b] -= u
			}
		}
	}
}

// tangent takes from gu what the multipliers l hold.
func (p *Problem) tangent(gu, q, l []float64) {
	for k := range p.D {
		for b, v := range q[k*p.m : (k+1)*p.m] {
			for e := range p.m {
				gu[k*p.a+1+e] += float64(v * l[b*p.m+e])
			}
		}
	}
}

// trial makes sheets from steps.
type trial struct {
	polar     *dense.Polar
	from, to  []float64 // m x D
	residuals []float64
	at        places
}

func (p *Problem) newTrial() *trial {
	vec := func() []float64 { return make([]float64, p.m*p.D) }
	return &trial{dense.NewPolar(p.m, p.D), vec(), vec(), make([]float64, p.D*p.N), p.newPlaces()}
}

// take writes the sheet after a step of from, Q being made orthonormal, and its residuals; false where it cannot be.
func (t *trial) take(to, from Sheet, p *Problem, du, dv []float64) bool {
	for k := range p.D {
		to.C[k] = from.C[k] + du[k*p.a]
		for b := range p.m {
			to.Q[k*p.m+b] = from.Q[k*p.m+b] + du[k*p.a+1+b]
		}
	}
	if dv != nil {
		nT := len(from.Theta)
		for i, v := range from.Theta {
			to.Theta[i] = v + dv[i]
		}
		for i, v := range from.Tau {
			to.Tau[i] = v + dv[nT+i]
		}
	}
	dense.Transpose(t.from, to.Q, p.D, p.m)
	copy(t.to, t.from)
	if _, ok := t.polar.Factor(t.to, t.from, p.D); !ok {
		return false
	}
	dense.Transpose(to.Q, t.to, p.m, p.D)
	p.place(t.at, to)
	p.residuals(t.residuals, to, t.at)
	return true
}

// slopes writes the derivatives of the rounded cost, and the weights of the primal-dual Newton matrix with multipliers g:
// (1 - g r/theta)/theta, theta = sqrt(r^2 + mu^2).
//
// Source: T. F. Chan, G. H. Golub, P. Mulet, A nonlinear primal-dual method for total variation-based image restoration,
// SIAM J. Sci. Comput. 20 (1999) 1964-1977.
func slopes(slope, w, r, g []float64, mu float64) {
	for i, v := range r {
		theta := math.Sqrt(float64(v*v) + float64(mu*mu))
		slope[i] = v / theta
		w[i] = max(0, 1-float64(g[i]*slope[i])) / theta
	}
}

// follow moves the multipliers with the residuals, within their bounds.
func follow(g, slope, w, dr []float64) {
	for i, v := range slope {
		g[i] = min(1, max(-1, v+float64(w[i]*dr[i])))
	}
}
