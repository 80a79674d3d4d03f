package outside

import "github.com/scqm/scqm/framework"

// Mixture is what weights of parts leave of measured mixtures: row i is the single number
// sum_k Parts[i][k] x_k - Measured[i].
type Mixture struct {
	Parts    [][]float64
	Measured []float64
}

// Blocks has the weights on a simplex.
func (m Mixture) Blocks() []framework.Block {
	return []framework.Block{{Name: "weights", Manifold: Simplex(len(m.Parts[0]))}}
}

// Shape is the number of mixtures and 1.
func (m Mixture) Shape() (int, int) { return len(m.Measured), 1 }

// Residuals writes the rows from, ..., to-1.
func (m Mixture) Residuals(dst []float64, x framework.Point, from, to int) error {
	for i := from; i < to; i++ {
		dst[i-from] = dot(m.Parts[i], x[0]) - m.Measured[i]
	}
	return nil
}

// JacobianProduct writes their derivatives along v.
func (m Mixture) JacobianProduct(dst []float64, _, v framework.Point, from, to int) error {
	for i := from; i < to; i++ {
		dst[i-from] = dot(m.Parts[i], v[0])
	}
	return nil
}

// AddTransposedProduct adds the transposed derivatives times g.
func (m Mixture) AddTransposedProduct(dst, _ framework.Point, g []float64, from, to int) error {
	for i := from; i < to; i++ {
		for k, p := range m.Parts[i] {
			dst[0][k] += g[i-from] * p
		}
	}
	return nil
}

func dot(x, y []float64) float64 {
	var s float64
	for i, a := range x {
		s += a * y[i]
	}
	return s
}
