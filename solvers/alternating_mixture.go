package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/internal/dense"
)

// Mixture is the memory of Anderson acceleration. For outer blocks y_k with images T(y_k) and residuals f_k = T(y_k)
// - y_k, all blocks one after the other, it holds the differences of successive f and T. The next point is
//
//	T(y_k) - sum_j g_j dT_j,  g = argmin |f_k - sum_j g_j dF_j|^2 + mu |g|^2.
//
// Every block is scaled by its current residual, so that the point does not depend on the units of the blocks.
type Mixture struct {
	// Image and Residual are the last ones; empty if there were none.
	Image, Residual []float64
	// Images and Residuals are differences, oldest first.
	Images, Residuals [][]float64

	gram, coefficient []float64
}

// mixtureDamping is mu relative to the mean diagonal of the normal equations.
const mixtureDamping = 1e-10

// clear removes all entries but keeps their memory.
func (m *Mixture) clear() {
	m.Image, m.Residual = m.Image[:0], m.Residual[:0]
	m.Images, m.Residuals = m.Images[:0], m.Residuals[:0]
}

// push adds an outer point and its image, replacing the oldest where there are memory of them.
func (m *Mixture) push(e *framework.Evaluator, x, image framework.Point, memory int) {
	length := 0
	for _, k := range latent.OuterBlocks(e) {
		length += len(image[k])
	}
	if len(m.Image) == length {
		m.Images = slot(m.Images, memory, length)
		m.Residuals = slot(m.Residuals, memory, length)
		copy(m.Images[len(m.Images)-1], m.Image)
		copy(m.Residuals[len(m.Residuals)-1], m.Residual)
	} else {
		m.Image, m.Residual = dense.Grow(m.Image, length), dense.Grow(m.Residual, length)
	}
	at := 0
	for _, k := range latent.OuterBlocks(e) {
		to := at + len(image[k])
		copy(m.Image[at:to], image[k])
		floats.SubTo(m.Residual[at:to], image[k], x[k])
		at = to
	}
	if last := len(m.Images) - 1; last >= 0 {
		floats.SubTo(m.Images[last], m.Image, m.Images[last])
		floats.SubTo(m.Residuals[last], m.Residual, m.Residuals[last])
	}
}

// slot appends a vector to the list, reusing the oldest one where the list is full.
func slot(list [][]float64, most, length int) [][]float64 {
	if len(list) < most {
		if n := len(list); cap(list) > n && len(list[:n+1][n]) == length {
			return list[:n+1] // left over from before clear
		}
		return append(list, make([]float64, length))
	}
	oldest := list[0]
	copy(list, list[1:])
	list[len(list)-1] = oldest
	return list
}

// mix writes the next point into dst and reports false where the memory is empty.
func (m *Mixture) mix(e *framework.Evaluator, dst, image framework.Point) bool {
	n := len(m.Images)
	if n == 0 || !m.solve(e, n) {
		return false
	}
	at := 0
	for _, k := range latent.OuterBlocks(e) {
		to := at + len(image[k])
		copy(dst[k], image[k])
		for j, c := range m.coefficient {
			floats.AddScaled(dst[k], -c, m.Images[j][at:to])
		}
		at = to
	}
	return true
}

// solve computes the coefficients from the normal equations.
func (m *Mixture) solve(e *framework.Evaluator, n int) bool {
	m.gram, m.coefficient = dense.Grow(m.gram, n*n), dense.Grow(m.coefficient, n)
	clear(m.gram)
	clear(m.coefficient)
	at := 0
	for _, k := range latent.OuterBlocks(e) {
		to := at + e.Blocks()[k].Size()
		m.addBlock(n, at, to)
		at = to
	}
	var trace float64
	for i := range n {
		trace += m.gram[i*n+i]
	}
	if !(trace > 0) || math.IsInf(trace, 0) {
		return false
	}
	for i := range n {
		m.gram[i*n+i] += mixtureDamping * trace / float64(n)
	}
	if !dense.FactorCholesky(m.gram, n, 0, 0) {
		return false
	}
	dense.SolveCholesky(m.coefficient, m.gram, n)
	return true
}

// addBlock adds the products of residual entries in [at, to).
func (m *Mixture) addBlock(n, at, to int) {
	f := m.Residual[at:to]
	size := floats.Norm(f, 2)
	if size == 0 {
		return
	}
	for i := range n {
		di := m.Residuals[i][at:to]
		m.coefficient[i] += floats.Dot(di, f) / size / size
		for j := range i + 1 {
			m.gram[i*n+j] += floats.Dot(di, m.Residuals[j][at:to]) / size / size
		}
	}
}
