package nearest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
)

// The form is the loss of the whole matrix: values, gradients, products with the Hessian.
func TestTridiagonalForm(t *testing.T) {
	const n, dim = 5, 7
	rng := rand.New(rand.NewPCG(6, 6))
	m := &dense.Tridiagonal{Diagonal: make([]float64, dim), Off: make([]float64, dim-1)}
	for j := range m.Diagonal {
		m.Diagonal[j] = 2 + rng.Float64()
	}
	for j := range m.Off {
		m.Off[j] = rng.Float64()
	}
	whole, err := losses.Mahalanobis(mat.NewDense(dim, dim, m.Matrix()))
	require.NoError(t, err)
	form := NewTridiagonalForm(m, whole)
	assert.Equal(t, whole.Name(), form.Name())
	assert.Equal(t, whole.(framework.Quadratic).Matrix(), form.Matrix())
	r, v := make([]float64, n*dim), make([]float64, n*dim)
	for i := range r {
		r[i], v[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	evaluate := func(l framework.Loss) (values, grad, alone, product []float64) {
		values, grad, alone, product = make([]float64, n), make([]float64, n*dim), make([]float64, n), make([]float64, n*dim)
		require.NoError(t, l.Evaluate(values, grad, r, dim))
		require.NoError(t, l.Evaluate(alone, nil, r, dim))
		require.NoError(t, l.(framework.SecondOrder).HessianProduct(product, r, v, dim))
		return values, grad, alone, product
	}
	values, grad, alone, product := evaluate(form)
	wantValues, wantGrad, _, wantProduct := evaluate(whole)
	assert.InDeltaSlice(t, wantValues, values, 1e-12)
	assert.Equal(t, values, alone)
	assert.InDeltaSlice(t, wantGrad, grad, 1e-12)
	assert.InDeltaSlice(t, wantProduct, product, 1e-12)
	require.ErrorIs(t, form.Evaluate(values, nil, r[:dim-1], dim-1), framework.ErrInvalid)
}
