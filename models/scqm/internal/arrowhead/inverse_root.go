package arrowhead

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// innerFlatness is the least eigenvalue of the second derivatives of a row, relative to the largest magnitude;
// smaller ones are raised to it.
const innerFlatness = 1e-8

// InverseRoot finds the R that eliminate rows: B_i|C_i|^-1 B_i' = B_i R_i (B_i R_i)'.
type InverseRoot struct {
	R     []float64 // d x d
	eigen *dense.SymmetricEigen
}

// NewInverseRoot allocates for d x d matrices.
func NewInverseRoot(d int) *InverseRoot {
	return &InverseRoot{R: make([]float64, d*d), eigen: dense.NewSymmetricEigen(d)}
}

// Multiply writes b R; dst may be b.
func (k *InverseRoot) Multiply(dst, b []float64) {
	var buffer [8]float64
	d := len(b)
	out := append(buffer[:0], b...)
	clear(out)
	for i, v := range b {
		for j, r := range k.R[i*d : (i+1)*d] {
			out[j] += v * r
		}
	}
	copy(dst, out)
}

// Find finds R with |C|^-1 = RR', 0 for a row of weight 0.
func (k *InverseRoot) Find(c []float64) {
	d := len(k.eigen.Values)
	var most float64
	for i := range d {
		most = max(most, math.Abs(c[i*d+i]))
	}
	copy(k.R, c)
	if dense.FactorCholesky(k.R, d, innerFlatness*most, 0) {
		dense.InvertTransposed(k.R, d)
		return
	}
	copy(k.eigen.A, c)
	k.eigen.FactorizeOrIdentity()
	values := k.eigen.Values
	most = max(math.Abs(values[0]), math.Abs(values[d-1]))
	for j, w := range values {
		by := 0.0
		if most > 0 {
			by = 1 / math.Sqrt(max(math.Abs(w), innerFlatness*most))
		}
		for i := range d {
			k.R[i*d+j] = k.eigen.A[i*d+j] * by
		}
	}
}
