package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/internal/dense"
)

// minDamping is the least damping, which makes null spaces of S harmless.
const minDamping = 1e-9

// smallOuter is the number of outer coordinates up to which second derivatives are
// cheaper than the iterations that they save.
const smallOuter = 64

// schur solves Newton systems in the shape of an arrowhead. With |C_i|^-1 = R_i R_i'
// and F = [F_1 ... F_N], F_i = B_i R_i, f_i = R_i'g_i,
//
//	S = A - F F',   S outer = F f - g,   inner_i = -R_i (f_i + F_i' outer).
type schur struct {
	latent.ArrowheadShape
	root  *dense.InverseRoot
	least float64 // the smallest damping

	roots  []float64 // R_i, Dim x Dim each
	f      []float64 // N Dim
	ff     []float64 // P x (N Dim)
	s      []float64 // P x P, scaled to a diagonal of A of 1
	rhs    []float64 // P, scaled
	scale  []float64 // P: what s and rhs were multiplied by
	size   float64   // Frobenius norm of s
	gained float64   // decrease predicted for outer = 0

	outer, inner []float64 // the step

	damped []float64 // P x P: its Cholesky factor
	scaled []float64 // P: the step in scaled coordinates
	t      []float64 // Dim

	spectral             *dense.Spectral // of s
	haveEigen, hasCurved bool            // one was computed; s is indefinite
}

func newSchur(shape latent.ArrowheadShape) *schur {
	vec := func(n int) []float64 { return make([]float64, n) }
	n, p, d := shape.Inner(), shape.Outer, shape.Dim
	return &schur{
		ArrowheadShape: shape, root: dense.NewInverseRoot(d), least: minDamping,
		roots: vec(n * d), f: vec(n), ff: vec(p * n),
		s: vec(p * p), rhs: vec(p), scale: vec(p), outer: vec(p), inner: vec(n),
		damped: vec(p * p), scaled: vec(p), t: vec(d),
	}
}

// eliminate prepares systems with the matrices of an arrowhead.
func (s *schur) eliminate(a *latent.Arrowhead) {
	n, p := s.Inner(), s.Outer
	s.eliminateRows(a)
	s.gained = floats.Dot(s.f, s.f) / 2
	s.setScale(a.A)
	dense.GramRows(s.s, s.ff, p, n)
	for q := range p {
		for k := range q + 1 {
			v := (a.A[q*p+k] - s.s[q*p+k]) * s.scale[q] * s.scale[k]
			s.s[q*p+k], s.s[k*p+q] = v, v
		}
		s.rhs[q] = (floats.Dot(s.ff[q*n:(q+1)*n], s.f) - a.OuterGrad[q]) * s.scale[q]
	}
	s.size = math.Sqrt(floats.Dot(s.s, s.s))
	s.haveEigen = false
}

// eliminateRows computes roots, f and ff for any C_i.
func (s *schur) eliminateRows(a *latent.Arrowhead) {
	d, n := s.Dim, s.Inner()
	for i := range s.Rows {
		s.root.R = s.roots[i*d*d : (i+1)*d*d]
		if c := a.C[i*d*d : (i+1)*d*d]; d != 2 || !dense.PlaneRoot(s.root.R, c, s.root.Flatness) {
			s.root.Find(c)
		}
	}
	s.timesRoots(s.f, a.InnerGrad)
	for q := range s.Outer {
		s.timesRoots(s.ff[q*n:(q+1)*n], a.B[q*n:(q+1)*n])
	}
}

// setScale sets the scale to one over the square roots of the diagonal of A: coordinates of different blocks have
// different units.
func (s *schur) setScale(a []float64) {
	for q := range s.scale {
		s.scale[q] = 1
		if size := math.Abs(a[q*(s.Outer+1)]); size > 0 && !math.IsInf(size, 0) {
			s.scale[q] = 1 / math.Sqrt(size)
		}
	}
}

// timesRoots writes b_i R_i for all rows i, where b holds the b_i one after the
// other.
func (s *schur) timesRoots(dst, b []float64) {
	d := s.Dim
	if d == 2 {
		dense.TimesPlaneRoots(dst, b, s.roots)
		return
	}
	clear(dst)
	for i := 0; i < len(b); i += d {
		for k, v := range b[i : i+d] {
			for j, u := range s.roots[(i+k)*d : (i+k+1)*d] {
				dst[i+j] += v * u
			}
		}
	}
}

// solve computes the step for damping mu and returns the predicted reduction.
func (s *schur) solve(mu float64) float64 {
	predicted := s.promise(mu)
	s.back()
	return predicted
}

// promise is solve without the inner step; it returns the predicted reduction.
func (s *schur) promise(mu float64) float64 {
	p := s.Outer
	shift := (mu + s.least) * s.size
	if s.size == 0 {
		shift = 1
	}
	if !s.solveCholesky(shift) {
		s.solveEigen(mu)
	}
	predicted := s.gained
	for q, v := range s.scaled {
		predicted += v * (s.rhs[q] - floats.Dot(s.s[q*p:(q+1)*p], s.scaled)/2)
		s.outer[q] = v * s.scale[q]
	}
	return predicted
}

// solveCholesky solves (S + shift I) x = rhs where that matrix is safely
// positive definite.
func (s *schur) solveCholesky(shift float64) bool {
	p := s.Outer
	if s.haveEigen && s.hasCurved {
		return false
	}
	copy(s.damped, s.s)
	for q := range p {
		s.damped[q*p+q] += shift
	}
	if !dense.FactorCholesky(s.damped, p, shift/2, 0) {
		return false
	}
	copy(s.scaled, s.rhs)
	dense.SolveCholesky(s.scaled, s.damped, p)
	return true
}

// solveEigen solves with the magnitudes of the eigenvalues.
func (s *schur) solveEigen(mu float64) {
	if !s.haveEigen {
		if s.spectral == nil {
			s.spectral = dense.NewSpectral(s.Outer)
		}
		s.spectral.Factorize(s.s)
		s.haveEigen = true
	}
	copy(s.scaled, s.rhs)
	values := s.spectral.Values
	least, most := floats.Min(values), 0.0
	for _, w := range values {
		most = max(most, math.Abs(w))
	}
	s.hasCurved = least < -s.least*most
	s.spectral.ToEigen(s.scaled)
	for k, w := range values {
		s.scaled[k] /= max(math.Abs(w), s.least*most) + mu*s.size
	}
	s.spectral.FromEigen(s.scaled)
}

// back computes the inner step by back substitution.
func (s *schur) back() {
	d, n := s.Dim, s.Inner()
	copy(s.inner, s.f)
	for q, v := range s.outer {
		floats.AddScaled(s.inner, v, s.ff[q*n:(q+1)*n])
	}
	for i := range s.Rows {
		step := s.inner[i*d : (i+1)*d]
		copy(s.t, step)
		for j := range step {
			step[j] = -floats.Dot(s.roots[(i*d+j)*d:(i*d+j+1)*d], s.t)
		}
	}
}
