package rows

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Rows and points come back from their coordinates, forms have the same values there, and what is outside of the axes is perpendicular
// to them, before and after more are added.
func TestFormAxes(t *testing.T) {
	const n, D, m = 6, 40, 3
	rng := rand.New(rand.NewPCG(5, 1))
	draw := func(count int) []float64 {
		x := make([]float64, count)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	matrix := make([]float64, D*D)
	dense.Gram(matrix, draw(2*D*D), 2*D, D, 1)
	positive, ok := dense.NewPositive(matrix, D)
	require.True(t, ok)
	x := Data{N: n, D: D, X: draw(n * D)}
	f := NewFormAxes(x, positive)
	value := func(r []float64) float64 {
		product := make([]float64, D)
		positive.MultiplyRows(product, r)
		return floats.Dot(product, r)
	}
	for _, further := range [][]float64{nil, draw(2 * D), draw(5 * D)} {
		if further != nil {
			extra := append(further, further[:D]...) // once more, which is no other direction
			before, _ := f.Dims()
			require.True(t, f.Add(extra))
			after, _ := f.Dims()
			assert.Equal(t, before+len(further)/D, after)
		}
		inside, form := f.Rows()
		k, _ := f.Dims()
		require.Equal(t, k, inside.D)
		r, turned, back := make([]float64, D), make([]float64, k), make([]float64, D)
		for i := range n {
			f.ExpandPoint(back, inside.Row(i))
			assert.True(t, floats.EqualApprox(x.Row(i), back, 1e-10))
			floats.SubTo(r, x.Row(i), x.Row((i+1)%n))
			floats.SubTo(turned, inside.Row(i), inside.Row((i+1)%n))
			product := make([]float64, k)
			form.MultiplyRows(product, turned)
			assert.InEpsilon(t, value(r), floats.Dot(product, turned), 1e-10)
		}
		q, wide, again := draw(k*m), make([]float64, D*m), make([]float64, k*m)
		f.ExpandFrame(wide, q, m)
		f.ShrinkFrame(again, wide, m)
		assert.True(t, floats.EqualApprox(q, again, 1e-10))
		beyond := make([]float64, m*D)
		f.Outside(beyond, q, m)
		axes, product := make([]float64, m*D), make([]float64, m*D)
		dense.Transpose(axes, wide, D, m)
		positive.MultiplyRows(product, axes)
		for j := range m {
			rest := product[j*D : (j+1)*D]
			floats.Sub(rest, beyond[j*D:(j+1)*D]) // is among the axes
			coordinates := make([]float64, k)
			dense.Transpose(wide[:D], rest, 1, D)
			f.ShrinkFrame(coordinates, wide[:D], 1)
			f.ExpandFrame(back, coordinates, 1)
			assert.True(t, floats.EqualApprox(rest, back, 1e-9))
			f.ShrinkFrame(coordinates, beyond[j*D:(j+1)*D], 1)
			assert.Less(t, dense.Norm(coordinates), 1e-9)
		}
	}
}
