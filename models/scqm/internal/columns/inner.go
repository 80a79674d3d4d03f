package columns

import (
	"github.com/scqm/scqm/internal/dense"
)

// inner minimises the rounded cost over c and Q for places that rest: a variable projection, which costs as much as a look at
// the residuals and lets steps of the border be as long as their own curvature allows.
type inner struct {
	*Problem
	trial                *trial
	next                 Sheet
	slope, w, dr         []float64 // D x n
	gu, du, g, inverse   []float64
	low                  []float64 // a x a: the factor of one column
	l, square, rhs, ties []float64
	extra                int
}

func (p *Problem) newInner() *inner {
	vec := func(n int) []float64 { return make([]float64, n) }
	e := p.m * (p.m + 1) / 2
	return &inner{Problem: p, trial: p.newTrial(), slope: vec(p.D * p.N), w: vec(p.D * p.N), dr: vec(p.D * p.N),
		gu: vec(p.D * p.a), du: vec(p.D * p.a), g: vec(p.D * p.a * p.a), inverse: vec(p.D * p.a * e), ties: vec(p.a * e), l: vec(p.m * p.m), low: vec(p.a * p.a),
		square: vec(e * e), rhs: vec(e), extra: e, next: p.newSheet()}
}

func (p *Problem) newSheet() Sheet {
	return Sheet{make([]float64, p.D), make([]float64, p.D*p.m), make([]float64, p.q*p.S), make([]float64, p.N*p.Latent)}
}

// innerSteps bounds the steps for columns after one of the border.
const innerSteps = 4

// settle improves c and Q of s, with residuals r, multipliers g and rounded cost f, and returns the new cost.
func (n *inner) settle(s Sheet, at places, r, g []float64, mu, f float64) float64 {
	pen := n.penalty(s)
	for range innerSteps {
		slopes(n.slope, n.w, r, g, mu)
		n.matrices(s, at)
		ok, after := false, f
		for damp, tries := 0., 0; tries < 4 && !ok; tries++ {
			if n.solve(s, damp) {
				copy(n.next.Theta, s.Theta)
				copy(n.next.Tau, s.Tau)
				if n.trial.take(n.next, s, n.Problem, n.du, nil) {
					after = rounded(n.trial.residuals, mu) + pen
					ok = after < f
				}
			}
			damp = max(damp, 1e-4) * 30
		}
		if !ok {
			return f
		}
		n.changes(at)
		follow(g, n.slope, n.w, n.dr)
		s.copyFrom(n.next)
		copy(r, n.trial.residuals)
		drop := f - after
		if f = after; drop < 1e-5*mu*float64(len(r)) {
			return f
		}
	}
	return f
}

// matrices fills the gradient and the matrices of columns.
func (n *inner) matrices(s Sheet, at places) {
	a := n.a
	clear(n.g)
	clear(n.gu)
	for k := range n.D {
		g, gu := n.g[k*a*a:(k+1)*a*a], n.gu[k*a:(k+1)*a]
		for i := range n.N {
			z, u, v := at.z[i*a:(i+1)*a], n.w[k*n.N+i], n.slope[k*n.N+i]
			for b, x := range z {
				gu[b] += float64(v * x)
				x *= u
				for e := range b + 1 {
					g[b*a+e] += float64(x * z[e])
				}
			}
		}
	}
	n.turning(n.l, s.Q, n.gu)
	n.tangent(n.gu, s.Q, n.l)
	for k := range n.D {
		g := n.g[k*a*a : (k+1)*a*a]
		for b := range a {
			for e := range b + 1 {
				if e > 0 {
					g[b*a+e] += n.l[(b-1)*n.m+e-1]
				}
				g[e*a+b] = g[b*a+e]
			}
		}
	}
}

// solve writes the step of c and Q that keeps Q'Q to first order.
func (n *inner) solve(s Sheet, damp float64) bool {
	a, e := n.a, n.extra
	clear(n.square)
	clear(n.rhs)
	low := n.low
	for k := range n.D {
		copy(low, n.g[k*a*a:(k+1)*a*a])
		most := 0.
		for b := range a {
			most = max(most, low[b*a+b])
		}
		for b := range a {
			low[b*a+b] += (damp + 1e-12) * most
		}
		if !lift(low, a, most) {
			return false
		}
		n.tiesOf(s, k)
		inv, du := n.inverse[k*a*e:(k+1)*a*e], n.du[k*a:(k+1)*a]
		copy(inv, n.ties)
		for j := range e {
			dense.ForwardCholesky(inv[j*a:(j+1)*a], low, a)
		}
		copy(du, n.gu[k*a:(k+1)*a])
		dense.ForwardCholesky(du, low, a)
		for j := range e {
			n.rhs[j] -= dense.InnerProduct(inv[j*a:(j+1)*a], du)
			for h := range j + 1 {
				n.square[j*e+h] += dense.InnerProduct(inv[j*a:(j+1)*a], inv[h*a:(h+1)*a])
			}
		}
		for j := range e {
			dense.BackwardCholesky(inv[j*a:(j+1)*a], low, a)
		}
		dense.BackwardCholesky(du, low, a)
	}
	if !dense.FactorCholesky(n.square, e, 0, 0) {
		return false
	}
	dense.SolveCholesky(n.rhs, n.square, e)
	for k := range n.D {
		du := n.du[k*a : (k+1)*a]
		for j, v := range n.rhs {
			dense.AddScaled(du, v, n.inverse[(k*e+j)*a:(k*e+j+1)*a])
		}
		for b := range du {
			du[b] = -du[b]
		}
	}
	return true
}

// tiesOf writes the derivatives of Q'Q by column k.
func (n *inner) tiesOf(s Sheet, k int) {
	clear(n.ties)
	q, t := s.Q[k*n.m:(k+1)*n.m], 0
	for b := range n.m {
		for e := b; e < n.m; e++ {
			n.ties[t*n.a+1+b] += q[e]
			n.ties[t*n.a+1+e] += q[b]
			t++
		}
	}
}

// changes writes the change of the residuals.
func (n *inner) changes(at places) {
	for k := range n.D {
		for i := range n.N {
			n.dr[k*n.N+i] = dense.InnerProduct(at.z[i*n.a:(i+1)*n.a], n.du[k*n.a:(k+1)*n.a])
		}
	}
}
