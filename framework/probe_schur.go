package framework

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// innerFlatness is the eigenvalue of an inner Hessian, relative to the largest
// magnitude, below which it is raised.
const innerFlatness = 1e-8

// eliminate writes the scaled Schur complement into s, over B the F_i = B_i R_i
// and over C the R_i, R_i R_i' = |C_i|^-1. It reports false where A has no scale.
func (p *prober) eliminate() bool {
	d, n := p.Dim, p.Inner()
	c := mat.NewSymDense(d, nil)
	for i := range p.Rows {
		inverseRoot(p.C[i*d*d:(i+1)*d*d], c)
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
	for q := range p.Outer {
		f := p.B[q*n : (q+1)*n]
		for k := range q + 1 {
			v := p.A[q*p.Outer+k] - floats.Dot(f, p.B[k*n:(k+1)*n])
			p.s.SetSym(q, k, v*p.scale[q]*p.scale[k])
		}
	}
	return true
}

// inverseRoot overwrites a symmetric matrix by R with R R' = |c|^-1; small
// eigenvalues are raised, and a matrix of zero, that of a row without weight,
// has R = 0.
func inverseRoot(c []float64, work *mat.SymDense) {
	d := work.SymmetricDim()
	if d == 1 {
		if c[0] != 0 {
			c[0] = 1 / math.Sqrt(math.Abs(c[0]))
		}
		return
	}
	for i := range d {
		for j := range i + 1 {
			work.SetSym(i, j, c[i*d+j])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(work, true) {
		clear(c)
		return
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	most := math.Max(math.Abs(values[0]), math.Abs(values[d-1]))
	for j, w := range values {
		by := 0.0
		if most > 0 {
			by = 1 / math.Sqrt(math.Max(math.Abs(w), innerFlatness*most))
		}
		for i := range d {
			c[i*d+j] = vectors.At(i, j) * by
		}
	}
}
