package frameworktest

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// maxRank bounds the number of projections used to determine the dimension of the tangent space or of its complement.
const maxRank = 200

// checkProjection tests the laws of the projection onto the tangent space: linear, idempotent, self-adjoint, and of
// rank Dim.
func (c *manifoldCheck) checkProjection() {
	c.law("projection idempotent", func(x []float64) error {
		p := c.project(x, c.gauss())
		return equal(c.project(x, p), p)
	})
	c.law("projection linear", func(x []float64) error {
		return c.linear(func(v []float64) []float64 { return c.project(x, v) }, c.gauss(), c.gauss())
	})
	if !c.hasMetric() {
		c.law("projection self-adjoint", func(x []float64) error {
			u, v := c.gauss(), c.gauss()
			return equalNumbers(floats.Dot(c.project(x, u), v), floats.Dot(u, c.project(x, v)), norm(u)*norm(v))
		})
	}
	if c.OK() {
		c.law("dimension", c.dimension)
	}
}

// dimension determines the rank of k random vectors projected onto the tangent space, or onto its complement if that
// is smaller. If k exceeds the claimed dimension, the rank equals it only if the claim is right.
func (c *manifoldCheck) dimension(x []float64) error {
	dim, codim := c.m.Dim(), c.m.Size()-c.m.Dim()
	want := min(dim, codim)
	if want > maxRank || c.m.Size() == 0 {
		return nil
	}
	images := make([][]float64, want+2)
	for i := range images {
		z := c.gauss()
		images[i] = c.project(x, z)
		if codim < dim {
			floats.SubTo(images[i], z, images[i])
		}
	}
	got, err := rank(images)
	if err != nil {
		return err
	}
	if got != want {
		if codim < dim {
			return fmt.Errorf("Dim is %d, but the complement of the tangent space has dimension %d or more, not %d", dim, got, want)
		}
		return fmt.Errorf("Dim is %d, but the tangent space has dimension %d or more", dim, got)
	}
	return nil
}

// rank is the rank of vectors whose entries are of size 1.
func rank(vectors [][]float64) (int, error) {
	gram := mat.NewSymDense(len(vectors), nil)
	for i, u := range vectors {
		for j, v := range vectors[:i+1] {
			gram.SetSym(i, j, floats.Dot(u, v))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, false) {
		return 0, errors.New("the rank of the projection cannot be computed")
	}
	var n int
	for _, v := range eigen.Values(nil) {
		if v > 1e-9 {
			n++
		}
	}
	return n, nil
}
