package losses_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
)

// TestMahalanobisIsTheSquare: the code published with the paper takes the root
// of r'Mr, its table does not.
func TestMahalanobisIsTheSquare(t *testing.T) {
	m := mat.NewSymDense(2, []float64{2, 1, 1, 3})
	values, grad := evaluate(t, mahalanobis(t, m), []float64{1, 2, -3, 1}, 2)
	assert.Equal(t, []float64{2 + 2*2 + 3*4, 2*9 - 2*3 + 3}, values)
	assert.Equal(t, []float64{8, 14, -10, 0}, grad)
}

// TestMahalanobisAgainstCholesky compares the product in blocks with |L'r|^2,
// also across the borders of blocks.
func TestMahalanobisAgainstCholesky(t *testing.T) {
	for _, dim := range []int{1, 64, 192, 193, 400} {
		m := precision(dim)
		var c mat.Cholesky
		require.True(t, c.Factorize(m))
		var u mat.TriDense
		c.UTo(&u)
		const rows = 130
		r := gauss(rows*dim, 1)
		values, _ := evaluate(t, mahalanobis(t, m), r, dim)
		for i := range rows {
			var x mat.VecDense
			x.MulVec(&u, mat.NewVecDense(dim, r[i*dim:(i+1)*dim]))
			assert.InEpsilon(t, mat.Dot(&x, &x), values[i], 1e-12)
		}
	}
}

func TestMahalanobisRefusesMatrices(t *testing.T) {
	for message, m := range map[string]mat.Matrix{
		"no matrix":                                nil,
		"matrix is 2 x 3: want a square one":       mat.NewDense(2, 3, nil),
		"matrix is 0 x 0: want a square one":       &mat.Dense{},
		"row 1, column 0 is NaN":                   mat.NewDense(2, 2, []float64{1, 0, math.NaN(), 1}),
		"row 0, column 1 is +Inf":                  mat.NewDense(2, 2, []float64{1, math.Inf(1), 0, 1}),
		"row 1, column 1 is 0: not positive":       mat.NewDense(2, 2, []float64{1, 0, 0, 0}),
		"row 1, column 0 is 0.5 but its mirror is": mat.NewDense(2, 2, []float64{1, 0.5 + 1e-11, 0.5, 1}),
		"not positive definite: smallest eigenvalue -0.0962, mostly along row 2, column 2": mat.NewSymDense(3,
			[]float64{100, 0, 20, 0, 1, 0, 20, 0, 3.9}),
	} {
		_, err := losses.Mahalanobis(m)
		require.ErrorIs(t, err, framework.ErrInvalid, message)
		assert.ErrorContains(t, err, "losses: mahalanobis: "+message)
	}
}

func TestMahalanobisSymmetrises(t *testing.T) {
	data := []float64{4e6, 2 + 1e-12, 2 - 1e-12, 4e-6 + 2e-6}
	l := mahalanobis(t, mat.NewDense(2, 2, data))
	m := l.(framework.Quadratic).Matrix()
	assert.Equal(t, m[1], m[2])
	assert.Equal(t, 2., m[1])
	data[0] = 0
	assert.Equal(t, 4e6, m[0], "the matrix is copied")
}

func TestMahalanobisRefusesOtherRows(t *testing.T) {
	l := mahalanobis(t, precision(3))
	err := l.Evaluate(nil, nil, make([]float64, 4), 2)
	require.ErrorIs(t, err, framework.ErrInvalid)
	assert.ErrorContains(t, err, "losses: mahalanobis: the matrix is 3 x 3, residual rows have 2 entries")
	assert.Error(t, l.(framework.SecondOrder).HessianProduct(make([]float64, 2), make([]float64, 2), make([]float64, 2), 2))
}

// TestMahalanobisIsNotNegative uses a matrix whose form rounds below zero.
func TestMahalanobisIsNotNegative(t *testing.T) {
	l := mahalanobis(t, mat.NewSymDense(2, []float64{1, 1, 1, 1 + 4e-16}))
	r := gauss(2000, 1)
	for i := 0; i < len(r); i += 2 {
		r[i+1] = -r[i] * (1 + 1e-16*r[i+1])
	}
	values, _ := evaluate(t, l, r, 2)
	assert.GreaterOrEqual(t, floats.Min(values), 0.)
}

// A matrix that is given away is not copied, and is as it was.
func TestMahalanobisTakesOwnedMatrices(t *testing.T) {
	const n = 60
	given := mat.DenseCopyOf(precision(n))
	want := mat.DenseCopyOf(given)
	l := mahalanobis(t, dense.Owned{Dense: given})
	entries := l.(framework.Quadratic).Matrix()
	assert.Same(t, &given.RawMatrix().Data[0], &entries[0])
	assert.Equal(t, want.RawMatrix().Data, entries)
}
