package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/internal/dense"
)

// Mixture is the memory of Anderson acceleration: the last images T(y_k) of outer blocks y_k and their residuals
// f_k = T(y_k) - y_k, all blocks one after the other, oldest first. The next point is
//
//	sum_k w_k T(y_k),  w = argmin |sum_k w_k f_k|^2 + mu |w|^2,  sum_k w_k = 1.
//
// Every block is scaled by its newest residual, so that the point does not depend on the units of the blocks.
type Mixture struct{ Images, Residuals [][]float64 }

// mixtureMemory bounds the number of images. mixtureDamping is mu relative to the mean of the |f_k|^2.
const mixtureMemory, mixtureDamping = 9, 1e-11

// push adds the image of an outer point, in place of the oldest one if the memory is full.
func (m *Mixture) push(e *framework.Evaluator, x, image framework.Point) {
	var to, residual []float64
	for _, k := range latent.OuterBlocks(e) {
		to = append(to, image[k]...)
		residual = append(residual, x[k]...)
	}
	floats.SubTo(residual, to, residual)
	if len(m.Images) == mixtureMemory {
		m.Images, m.Residuals = m.Images[1:], m.Residuals[1:]
	}
	m.Images, m.Residuals = append(m.Images, to), append(m.Residuals, residual)
}

// mix writes the next point into dst and reports false where there is none but the image.
func (m *Mixture) mix(e *framework.Evaluator, dst framework.Point) bool {
	n := len(m.Images)
	gram, weights := make([]float64, n*n), make([]float64, n)
	at := 0
	for _, k := range latent.OuterBlocks(e) {
		to := at + len(dst[k])
		if size := floats.Norm(m.Residuals[n-1][at:to], 2); size > 0 {
			for i := range n {
				for j := range i + 1 {
					gram[i*n+j] += floats.Dot(m.Residuals[i][at:to], m.Residuals[j][at:to]) / size / size
				}
			}
		}
		at = to
	}
	var trace float64
	for i := range n {
		trace += gram[i*n+i]
	}
	for i := range n {
		gram[i*n+i] += mixtureDamping * trace / float64(n)
		weights[i] = 1
	}
	if n == 1 || !(trace > 0) || math.IsInf(trace, 0) || !dense.FactorCholesky(gram, n, 0, 0) {
		return false
	}
	dense.SolveCholesky(weights, gram, n)
	at = 0
	for _, k := range latent.OuterBlocks(e) {
		to := at + len(dst[k])
		clear(dst[k])
		for i, w := range weights {
			floats.AddScaled(dst[k], w/floats.Sum(weights), m.Images[i][at:to])
		}
		at = to
	}
	return true
}
