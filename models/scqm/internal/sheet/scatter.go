package sheet

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Scatter returns rows with a given mean and covariance, which determine the canonical form. It returns two rows
// along each principal axis, or the mean alone if the eigendecomposition fails.
func Scatter(mean []float64, covariance *mat.SymDense) []float64 {
	d := len(mean)
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return append([]float64(nil), mean...)
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	tau := make([]float64, 0, 2*d*d)
	for j, value := range eigen.Values(nil) {
		length := math.Sqrt(float64(d) * math.Max(value, 0))
		for _, sign := range []float64{-1, 1} {
			for i := range d {
				tau = append(tau, mean[i]+sign*length*v.At(i, j))
			}
		}
	}
	return tau
}
