package latent

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// innerFlatness is the eigenvalue of an inner Hessian, relative to the largest
// magnitude, below which it is raised.
const innerFlatness = 1e-8

// eliminate writes the lower triangle of the scaled Schur complement into s. It overwrites B by F_i = B_i R_i and C
// by R_i, with R_i R_i' = |C_i|^-1. It returns false if A has no scale.
func (p *prober) eliminate() bool {
	d, n := p.Dim, p.Inner()
	small := dense.NewSymmetricEigen(d)
	for i := range p.Rows {
		inverseRoot(p.C[i*d*d:(i+1)*d*d], small)
	}
	t := make([]float64, d)
	for q := range p.Outer {
		size := p.A[q*p.Outer+q]
		if !(size > 0) {
			return false
		}
		p.scale[q] = 1 / math.Sqrt(size)
		for i := range p.Rows {
			b, r := p.B[q*n+i*d:q*n+(i+1)*d], p.C[i*d*d:(i+1)*d*d]
			copy(t, b)
			for j := range b {
				b[j] = 0
				for l, v := range t {
					b[j] += v * r[l*d+j]
				}
			}
		}
	}
	dense.GramRows(p.s, p.B, p.Outer, n)
	for q := range p.Outer {
		row := p.s[q*p.Outer : q*p.Outer+q+1]
		for k, v := range row {
			row[k] = (p.A[q*p.Outer+k] - v) * p.scale[q] * p.scale[k]
		}
	}
	return true
}

// inverseRoot overwrites a symmetric matrix c by R with R R' = |c|^-1. Small eigenvalues are raised. A zero matrix,
// that of a row without weight, gives R = 0.
func inverseRoot(c []float64, eigen *dense.SymmetricEigen) {
	d := len(eigen.Values)
	if d == 1 {
		if c[0] != 0 {
			c[0] = 1 / math.Sqrt(math.Abs(c[0]))
		}
		return
	}
	copy(eigen.A, c)
	if !eigen.Factorize() {
		clear(c)
		return
	}
	most := math.Max(math.Abs(eigen.Values[0]), math.Abs(eigen.Values[d-1]))
	for j, w := range eigen.Values {
		by := 0.0
		if most > 0 {
			by = 1 / math.Sqrt(math.Max(math.Abs(w), innerFlatness*most))
		}
		for i := range d {
			c[i*d+j] = eigen.A[i*d+j] * by
		}
	}
}
