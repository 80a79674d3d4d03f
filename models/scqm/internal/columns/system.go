package columns

import (
	"github.com/scqm/scqm/internal/dense"
)

// system is the Newton system at a sheet for weights w of the squares of residuals: by column the a x a matrix G_k and what
// couples it with the border, and the border's own matrix.
type system struct {
	*Problem
	at     places
	slopes []float64 // n x m x d: of z by tau
	inV    []float64 // n x s: V'g_i, or Theta' of a step times phi
	dir    []float64 // n x d: of the residuals of a column by tau
	bent   []float64 // a x q
	vv, vx []float64 // sums over columns: n x s x s and n x s x d
	sheet  Sheet
	nT, nv int       // unknowns of Theta, and of Theta and tau
	width  int       // of the border, with the multipliers of Q'Q = I
	g      []float64 // D x a x a
	b, f   []float64 // width x Da: B', and L^-1 B
	v, k   []float64 // nv x nv, width x width
	low    []float64 // D x a x a: Cholesky factors of g
	schur  []float64 // nv x nv
	mult   []float64 // the factor of what is left of the multipliers
	cross  []float64 // nv x (width - nv), and that times the inverse of mult
	solved []float64
	rhs, y []float64
}

// Numbers is how many numbers a fit keeps besides the data.
func Numbers(n, D, d, s int) int {
	q, m := d*(d+1)/2, d+s
	ties := m * (m + 1) / 2
	border := q*s + n*d + ties
	return 3*border*border + D*(m+1)*(2*border+ties+3*(m+1)) + 24*n*D
}

func (p *Problem) newSystem() *system {
	s := &system{Problem: p, at: p.newPlaces(), nT: p.q * p.S}
	s.nv = s.nT + p.N*p.Latent
	extra := p.m * (p.m + 1) / 2
	s.width = s.nv + extra
	s.slopes, s.inV, s.dir = make([]float64, p.N*p.m*p.Latent), make([]float64, p.N*p.S), make([]float64, p.N*p.Latent)
	s.bent, s.vv, s.vx = make([]float64, p.a*p.q), make([]float64, p.N*p.S*p.S), make([]float64, p.N*p.S*p.Latent)
	s.g, s.low = make([]float64, p.D*p.a*p.a), make([]float64, p.D*p.a*p.a)
	s.b, s.f = make([]float64, s.width*p.D*p.a), make([]float64, s.width*p.D*p.a)
	s.v, s.k, s.schur = make([]float64, s.nv*s.nv), make([]float64, s.width*s.width), make([]float64, s.nv*s.nv)
	s.mult, s.cross, s.solved = make([]float64, extra*extra), make([]float64, s.nv*extra), make([]float64, s.nv*extra)
	s.rhs, s.y = make([]float64, s.width), make([]float64, p.D*p.a)
	return s
}

// move sets the sheet at which the system is linear.
func (s *system) move(sheet Sheet) {
	s.sheet = sheet
	s.place(s.at, sheet)
	clear(s.slopes)
	d, m := s.Latent, s.m
	for i := range s.N {
		to, tau := s.slopes[i*m*d:(i+1)*m*d], sheet.Tau[i*d:(i+1)*d]
		for e := range d {
			to[e*d+e] = 1
		}
		for a, pair := range s.pairs {
			for b := range s.S {
				t := sheet.Theta[a*s.S+b]
				to[(d+b)*d+pair[0]] += float64(t * tau[pair[1]])
				to[(d+b)*d+pair[1]] += float64(t * tau[pair[0]])
			}
		}
	}
}

// direction writes the derivatives of the residuals of column k by tau, n x d.
func (s *system) direction(dst []float64, k int) {
	d, m := s.Latent, s.m
	q := s.sheet.Q[k*m : (k+1)*m]
	for i := range s.N {
		for e := range d {
			sum := 0.
			for b, u := range q {
				sum += float64(u * s.slopes[(i*m+b)*d+e])
			}
			dst[i*d+e] = sum
		}
	}
}

// assemble fills the matrices for the D x n weights w; g, unless nil, are multipliers whose second derivatives are added.
func (s *system) assemble(w, g []float64) {
	clear(s.g)
	clear(s.b)
	clear(s.v)
	clear(s.vv)
	clear(s.vx)
	for k := range s.D {
		s.direction(s.dir, k)
		s.column(k, w[k*s.N:(k+1)*s.N], s.dir)
		s.border(k, w[k*s.N:(k+1)*s.N], s.dir)
	}
	s.bend()
	if g != nil {
		s.curve(g)
	}
	for i := range s.nT { // what border left to symmetry
		for j := range s.nv {
			if j >= s.nT {
				s.v[j*s.nv+i] = s.v[i*s.nv+j]
			}
		}
	}
	s.tie()
}

// column adds the matrix of column k and its coupling with Theta and tau.
func (s *system) column(k int, w, dir []float64) {
	a, d, stride := s.a, s.Latent, s.D*s.a
	g, bent := s.g[k*a*a:(k+1)*a*a], s.bent
	clear(bent)
	for i, u := range w {
		z, phi := s.at.z[i*a:(i+1)*a], s.at.phi[i*s.q:(i+1)*s.q]
		for b, x := range z {
			x *= u
			row := g[b*a : b*a+b+1]
			for e, y := range z[:b+1] {
				row[e] += float64(x * y)
			}
			for e, y := range dir[i*d : (i+1)*d] {
				s.b[(s.nT+i*d+e)*stride+k*a+b] = float64(x * y)
			}
			row = bent[b*s.q : (b+1)*s.q]
			for e, y := range phi {
				row[e] += float64(x * y)
			}
		}
	}
	for b := range a {
		for e := range b {
			g[e*a+b] = g[b*a+e]
		}
		for e, y := range bent[b*s.q : (b+1)*s.q] {
			for t, h := range s.sheet.Q[k*s.m+d : (k+1)*s.m] {
				s.b[(e*s.S+t)*stride+k*a+b] = float64(y * h)
			}
		}
	}
}

// border adds what column k has in the matrix of tau, and in the sums over columns that [system.bend] needs.
func (s *system) border(k int, w, dir []float64) {
	d, nv := s.Latent, s.nv
	v := s.sheet.Q[k*s.m+d : (k+1)*s.m]
	for i, u := range w {
		x, at := dir[i*d:(i+1)*d], s.nT+i*d
		for e, y := range x {
			row := s.v[(at+e)*nv+at : (at+e)*nv+at+d]
			for f, z := range x {
				row[f] += float64(u * y * z)
			}
		}
		for b, h := range v {
			h *= u
			row := s.vv[(i*s.S+b)*s.S : (i*s.S+b+1)*s.S]
			for t, y := range v {
				row[t] += float64(h * y)
			}
			row = s.vx[(i*s.S+b)*d : (i*s.S+b+1)*d]
			for e, y := range x {
				row[e] += float64(h * y)
			}
		}
	}
}

// bend adds what rows have in the rows of Theta of the border's matrix.
func (s *system) bend() {
	d, q := s.Latent, s.q
	for i := range s.N {
		phi := s.at.phi[i*q : (i+1)*q]
		for a, y := range phi {
			for b := range s.S {
				row := s.v[(a*s.S+b)*s.nv : (a*s.S+b+1)*s.nv]
				for e, z := range s.vx[(i*s.S+b)*d : (i*s.S+b+1)*d] {
					row[s.nT+i*d+e] += float64(y * z)
				}
				for c, x := range phi {
					for t, z := range s.vv[(i*s.S+b)*s.S : (i*s.S+b+1)*s.S] {
						row[c*s.S+t] += float64(x * y * z)
					}
				}
			}
		}
	}
}

// curve adds the second derivatives of g'r, and those of Q'Q = I at the multipliers that balance them.
func (s *system) curve(g []float64) {
	d, a, m, n, stride := s.Latent, s.a, s.m, s.N, s.D*s.a
	inV := s.inV
	clear(inV)
	for k := range s.D {
		for i, u := range g[k*n : (k+1)*n] {
			for b := range s.S {
				inV[i*s.S+b] += float64(u * s.sheet.Q[k*m+d+b])
				for e, y := range s.at.phi[i*s.q : (i+1)*s.q] {
					s.b[(e*s.S+b)*stride+k*a+1+d+b] += float64(u * y)
				}
			}
			for b := range m {
				for e := range d {
					s.b[(s.nT+i*d+e)*stride+k*a+1+b] += float64(u * s.slopes[(i*m+b)*d+e])
				}
			}
		}
	}
	for i := range n {
		tau, at := s.sheet.Tau[i*d:(i+1)*d], s.nT+i*d
		for e, pair := range s.pairs {
			for b := range s.S {
				u, row := inV[i*s.S+b], s.v[(e*s.S+b)*s.nv:]
				row[at+pair[0]] += float64(u * tau[pair[1]])
				row[at+pair[1]] += float64(u * tau[pair[0]])
				t := u * s.sheet.Theta[e*s.S+b]
				s.v[(at+pair[0])*s.nv+at+pair[1]] += t
				s.v[(at+pair[1])*s.nv+at+pair[0]] += t
			}
		}
	}
}

// turn adds the matrix that holds Q'Q = I, with multipliers l, m x m, to all columns.
func (s *system) turn(l []float64) {
	for k := range s.D {
		for b := range s.m {
			for e := range s.m {
				s.g[k*s.a*s.a+(b+1)*s.a+e+1] += l[b*s.m+e]
			}
		}
	}
}

// tie writes the derivatives of Q'Q.
func (s *system) tie() {
	t, stride := s.nv, s.D*s.a
	for b := range s.m {
		for e := b; e < s.m; e++ {
			for k := range s.D {
				q := s.sheet.Q[k*s.m : (k+1)*s.m]
				s.b[t*stride+k*s.a+1+b] += q[e]
				s.b[t*stride+k*s.a+1+e] += q[b]
			}
			t++
		}
	}
}

// factor eliminates the columns, with damp times the largest diagonal entry of G_k added to it and damp times the
// border's diagonal to that. It reports whether what is left is definite.
func (s *system) factor(damp float64) bool {
	a, stride := s.a, s.D*s.a
	copy(s.low, s.g)
	for k := range s.D {
		l := s.low[k*a*a : (k+1)*a*a]
		most := 0.
		for b := range a {
			most = max(most, l[b*a+b])
		}
		for b := range a {
			l[b*a+b] += damp*most + 1e-15*l[b*a+b]
		}
		if !lift(l, a, most) {
			return false
		}
	}
	copy(s.f, s.b)
	for t := range s.width {
		for k := range s.D {
			dense.ForwardCholesky(s.f[t*stride+k*a:t*stride+(k+1)*a], s.low[k*a*a:(k+1)*a*a], a)
		}
	}
	dense.GramRows(s.k, s.f, s.width, stride)
	return s.reduce(damp)
}

// lifts bounds how often a diagonal is raised, by 1e-14 of its largest entry at first.
const lifts = 30

// lift overwrites l with the Cholesky factor of itself, its diagonal raised until it is definite: far from kinks the
// multipliers of Q'Q = I may outweigh the rest. It reports false where nothing does.
func lift(l []float64, a int, most float64) bool {
	by := 1e-14 * most
	for range lifts {
		if dense.Cholesky(l, a, 0) {
			return true
		}
		for b := range a {
			l[b*a+b] += max(by, 1e-300)
		}
		by *= 10
	}
	return false
}

func (s *system) reduce(damp float64) bool {
	nv, w := s.nv, s.width
	e := w - nv
	for i := range e {
		copy(s.mult[i*e:i*e+i+1], s.k[(nv+i)*w+nv:(nv+i)*w+nv+i+1])
		for j := range nv {
			s.cross[j*e+i] = s.k[(nv+i)*w+j]
		}
	}
	if !dense.FactorCholesky(s.mult, e, 0, 0) {
		return false
	}
	copy(s.solved, s.cross)
	for j := range nv {
		dense.SolveCholesky(s.solved[j*e:(j+1)*e], s.mult, e)
	}
	most := 0.
	for i := range nv {
		most = max(most, s.v[i*nv+i])
	}
	for i := range nv {
		for j := range i + 1 {
			s.schur[i*nv+j] = s.v[i*nv+j] - s.k[i*w+j] + dense.InnerProduct(s.cross[i*e:(i+1)*e], s.solved[j*e:(j+1)*e])
		}
		s.schur[i*nv+i] += damp*(max(s.v[i*nv+i], -s.v[i*nv+i])+1e-6*most) + 1e-14*s.schur[i*nv+i]
	}
	return dense.FactorCholesky(s.schur, nv, 0, 0)
}

// solve writes the step du, D x a, and dv, of Theta and tau, against the gradients gu and gv.
func (s *system) solve(du, dv, gu, gv []float64) {
	a, stride, nv := s.a, s.D*s.a, s.nv
	e := s.width - nv
	for k := range s.D {
		copy(s.y[k*a:(k+1)*a], gu[k*a:(k+1)*a])
		dense.ForwardCholesky(s.y[k*a:(k+1)*a], s.low[k*a*a:(k+1)*a*a], a)
	}
	for t := range s.width {
		s.rhs[t] = dense.InnerProduct(s.f[t*stride:(t+1)*stride], s.y)
	}
	for i := range nv {
		dv[i] = s.rhs[i] - gv[i] - dense.InnerProduct(s.solved[i*e:(i+1)*e], s.rhs[nv:])
	}
	dense.SolveCholesky(dv, s.schur, nv)
	nu := s.rhs[nv:]
	for i, v := range dv { // the multipliers balance what dv and the columns leave of Q'Q
		dense.AddScaled(nu, v, s.cross[i*e:(i+1)*e])
	}
	for i := range nu {
		nu[i] = -nu[i]
	}
	dense.SolveCholesky(nu, s.mult, e)
	for i := range s.y {
		s.y[i] = -s.y[i]
	}
	for t, v := range dv {
		dense.AddScaled(s.y, -v, s.f[t*stride:(t+1)*stride])
	}
	for t, v := range nu {
		dense.AddScaled(s.y, -v, s.f[(nv+t)*stride:(nv+t+1)*stride])
	}
	copy(du, s.y)
	for k := range s.D {
		dense.BackwardCholesky(du[k*a:(k+1)*a], s.low[k*a*a:(k+1)*a*a], a)
	}
}
