package dense

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// M = HTH', for vectors in rows and in columns; products with T and solutions are those of the
// whole matrix.
func TestTridiagonalize(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{2, 3, 7, 33, 60, 100} {
		a, m := mat.NewDense(n, n, nil), mat.NewSymDense(n, nil)
		for i := range a.RawMatrix().Data {
			a.RawMatrix().Data[i] = rng.NormFloat64()
		}
		m.SymOuterK(1, a)
		matrix := mat.DenseCopyOf(m).RawMatrix().Data
		tri, h := Tridiagonalize(matrix, n)
		const k = reflectedRows + 3
		x, y := mat.NewDense(k, n, nil), mat.NewDense(k, n, nil)
		for i := range x.RawMatrix().Data {
			x.RawMatrix().Data[i] = rng.NormFloat64()
		}
		var want mat.Dense
		want.Mul(x, m)
		turned := mat.DenseCopyOf(x)
		h.Rows(turned.RawMatrix().Data, false)
		tri.MultiplyRows(y.RawMatrix().Data, turned.RawMatrix().Data)
		var same mat.Dense
		same.Mul(turned, mat.NewDense(n, n, tri.Matrix()))
		assert.True(t, mat.EqualApprox(&same, y, 1e-10), n)
		h.Rows(y.RawMatrix().Data, true)
		assert.True(t, mat.EqualApprox(&want, y, 1e-10*mat.Norm(m, 2)), n)

		columns := mat.DenseCopyOf(x.T())
		h.Columns(columns.RawMatrix().Data, k, false)
		assert.True(t, mat.EqualApprox(columns, turned.T(), 1e-10), n)
		factor, ok := tri.Factor()
		require.True(t, ok, n)
		factor.Solve(columns.RawMatrix().Data, k)
		h.Columns(columns.RawMatrix().Data, k, true)
		var back mat.Dense
		back.Mul(m, columns)
		assert.True(t, mat.EqualApprox(&back, x.T(), 1e-6), fmt.Sprint(n))
	}
	_, ok := (&Tridiagonal{Diagonal: []float64{1, 1}, Off: []float64{2}}).Factor()
	assert.False(t, ok)
}

// A tridiagonal matrix is left as it is, and rows with it.
func TestTridiagonalizeTridiagonal(t *testing.T) {
	want := &Tridiagonal{Diagonal: []float64{4, 5, 6}, Off: []float64{1, -2}}
	got, h := Tridiagonalize(want.Matrix(), 3)
	assert.Equal(t, want, got)
	x := []float64{1, 2, 3}
	h.Rows(x, false)
	h.Columns(x, 1, true)
	assert.Equal(t, []float64{1, 2, 3}, x)
}

// R'R = M, and solutions are those of R and R'.
func TestBidiagonal(t *testing.T) {
	tri := &Tridiagonal{Diagonal: []float64{4, 5, 6, 7}, Off: []float64{1, -2, 0.5}}
	f, ok := tri.Factor()
	require.True(t, ok)
	r := f.Roots()
	x := []float64{1, 2, -3, 0.5, 3, 1, 4, 1}
	white := append([]float64{}, x...)
	r.Multiply(white)
	product := make([]float64, len(x))
	tri.MultiplyRows(product, x)
	for i := range 2 {
		assert.InEpsilon(t, Dot(x[4*i:4*i+4], product[4*i:4*i+4]), Dot(white[4*i:4*i+4], white[4*i:4*i+4]), 1e-14)
	}
	r.SolveTransposed(product) // R'^-1 M x = R x
	assert.InDeltaSlice(t, white, product, 1e-13)
	r.Solve(white)
	assert.InDeltaSlice(t, x, white, 1e-13)
}
