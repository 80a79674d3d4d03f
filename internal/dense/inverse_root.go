package dense

import "math"

// InverseRoot finds roots R of the inverse of symmetric d x d matrices, |C|^-1 = RR', where |C| has the magnitudes of
// the eigenvalues of C. They eliminate rows: B_i|C_i|^-1 B_i' = B_i R_i (B_i R_i)'.
type InverseRoot struct {
	R []float64 // d x d
	// Flatness is a lower limit of eigenvalues, relative to the largest magnitude; smaller ones are raised to it.
	Flatness float64
	eigen    *SymmetricEigen
}

// NewInverseRoot returns an InverseRoot for d x d matrices, with a Flatness of 1e-8.
func NewInverseRoot(d int) *InverseRoot {
	return &InverseRoot{R: make([]float64, d*d), Flatness: 1e-8, eigen: NewSymmetricEigen(d)}
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

// Find sets R for the matrix c. If C = LL' is safely positive definite, R is the upper triangular L^-T, else E
// |w|^-1/2 from the eigenvalues w and eigenvectors E. If C = 0, as for a row without weight, R = 0.
func (k *InverseRoot) Find(c []float64) {
	d := len(k.eigen.Values)
	var most float64
	for i := range d {
		most = max(most, math.Abs(c[i*d+i]))
	}
	copy(k.R, c)
	if FactorCholesky(k.R, d, k.Flatness*most, 0) {
		InvertTransposed(k.R, d)
		return
	}
	copy(k.eigen.A, c)
	k.eigen.FactorizeOrIdentity()
	values := k.eigen.Values
	most = max(math.Abs(values[0]), math.Abs(values[d-1]))
	for j, w := range values {
		by := 0.0
		if most > 0 {
			by = 1 / math.Sqrt(max(math.Abs(w), k.Flatness*most))
		}
		for i := range d {
			k.R[i*d+j] = k.eigen.A[i*d+j] * by
		}
	}
}
