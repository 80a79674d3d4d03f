package columns

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// Sheet is a sheet and the places of its rows: x_ik is c_k + Q_k z_i, z_i = [tau_i; Theta' phi(tau_i)].
type Sheet struct {
	C     []float64 // D
	Q     []float64 // D x m
	Theta []float64 // q x s
	Tau   []float64 // n x d
}

func (s Sheet) clone() Sheet {
	cut := func(x []float64) []float64 { return append([]float64(nil), x...) }
	return Sheet{cut(s.C), cut(s.Q), cut(s.Theta), cut(s.Tau)}
}

func (s Sheet) copyFrom(o Sheet) {
	copy(s.C, o.C)
	copy(s.Q, o.Q)
	copy(s.Theta, o.Theta)
	copy(s.Tau, o.Tau)
}

// Problem is the cost sum |c_k + Q_k z_i - x_ik| + lambda sum of w_a Theta_ab^2, w being 1 for squares and
// 1/2 for products.
type Problem struct {
	N, D, Latent, S int
	X               []float64 // D x N: the transpose of the data
	q, m, a         int       // of phi, of z, of (1, z)
	pairs           [][2]int
	ridge           []float64 // q x s: the second derivatives of the penalty by Theta
}

// New takes the n x D data by rows. The penalty is lambda times the sum that [Problem] has.
func New(x []float64, n, D, d, s int, lambda float64) *Problem {
	p := &Problem{N: n, D: D, Latent: d, S: s, X: make([]float64, n*D), q: d * (d + 1) / 2, m: d + s, a: d + s + 1}
	dense.Transpose(p.X, x, n, D)
	for i := range d {
		for j := i; j < d; j++ {
			p.pairs = append(p.pairs, [2]int{i, j})
			by := lambda
			if i == j {
				by = 2 * lambda
			}
			for range s {
				p.ridge = append(p.ridge, by)
			}
		}
	}
	return p
}

// places are phi and (1, z) of all rows.
type places struct{ phi, z []float64 }

func (p *Problem) newPlaces() places {
	return places{make([]float64, p.N*p.q), make([]float64, p.N*p.a)}
}

func (p *Problem) place(at places, s Sheet) {
	for i := range p.N {
		phi, z, tau := at.phi[i*p.q:(i+1)*p.q], at.z[i*p.a:(i+1)*p.a], s.Tau[i*p.Latent:(i+1)*p.Latent]
		dense.Vech(phi, tau)
		clear(z)
		z[0] = 1
		copy(z[1:], tau)
		for a, v := range phi {
			for b := range p.S {
				z[1+p.Latent+b] += float64(v * s.Theta[a*p.S+b])
			}
		}
	}
}

// residuals writes the D x N residuals.
func (p *Problem) residuals(r []float64, s Sheet, at places) {
	for k := range p.D {
		c, q := s.C[k], s.Q[k*p.m:(k+1)*p.m]
		for i := range p.N {
			v := c - p.X[k*p.N+i]
			for b, u := range q {
				v += float64(u * at.z[i*p.a+1+b])
			}
			r[k*p.N+i] = v
		}
	}
}

func (p *Problem) penalty(s Sheet) float64 {
	sum := 0.
	for i, t := range s.Theta {
		sum += float64(p.ridge[i] * t * t)
	}
	return sum / 2
}

// penalize adds the derivatives of the penalty by Theta.
func (p *Problem) penalize(gv, theta []float64) {
	for i, t := range theta {
		gv[i] += float64(p.ridge[i] * t)
	}
}

// rounded is the sum of sqrt(r^2 + mu^2); that of |r| for mu = 0.
func rounded(r []float64, mu float64) float64 {
	sum, square := 0., mu*mu
	for _, v := range r {
		sum += math.Sqrt(float64(v*v) + square)
	}
	return sum
}
