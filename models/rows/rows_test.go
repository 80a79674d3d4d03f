package rows

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func TestPrincipalComponents(t *testing.T) {
	for _, shape := range [][2]int{{50, 6}, {6, 50}, {5, 5}, {300, 200}, {200, 300}, {520, 530}} {
		n, D := shape[0], shape[1]
		x := Data{N: n, D: D, X: gaussians(4, n*D)}
		for i := range x.X {
			x.X[i] += 1e5
		}
		p, err := PrincipalComponents(t.Context(), x, 3, 2)
		require.NoError(t, err)
		c := mat.NewDense(n, D, append([]float64(nil), x.X...))
		for i := range n {
			floats.Sub(c.RawRowView(i), p.Mean)
		}
		var svd mat.SVD
		require.True(t, svd.Factorize(c, mat.SVDThin))
		var v mat.Dense
		svd.VTo(&v)
		for a := range 3 {
			want := mat.Col(nil, a, &v)
			assert.InDelta(t, 1, math.Abs(floats.Dot(want, p.Axes[a*D:(a+1)*D])), 1e-9, "%v component %d", shape, a)
		}
	}
	// Beyond the rank of the data, any orthonormal directions complete them.
	p, err := PrincipalComponents(t.Context(), Data{N: 3, D: 9, X: append(gaussians(1, 9), append(gaussians(1, 9), gaussians(2, 9)...)...)}, 5, 1)
	require.NoError(t, err)
	axes := mat.NewDense(5, 9, p.Axes)
	var gram mat.Dense
	gram.Mul(axes, axes.T())
	assert.True(t, mat.EqualApprox(&gram, mat.NewDiagDense(5, []float64{1, 1, 1, 1, 1}), 1e-14))
}

// TestPrincipalComponentsDoNotDependOnThreads, and end with their context.
func TestPrincipalComponentsDoNotDependOnThreads(t *testing.T) {
	x := Data{N: 600, D: 150, X: gaussians(5, 600*150)}
	one, err := PrincipalComponents(t.Context(), x, 3, 1)
	require.NoError(t, err)
	three, err := PrincipalComponents(t.Context(), x, 3, 3)
	require.NoError(t, err)
	assert.Equal(t, one, three)

	ended, end := context.WithCancel(t.Context())
	end()
	for _, shape := range [][2]int{{600, 150}, {150, 600}} {
		_, err = PrincipalComponents(ended, Data{N: shape[0], D: shape[1], X: x.X}, 3, 1)
		assert.ErrorIs(t, err, context.Canceled)
	}
}

func TestDistinctRowsAreNotCopied(t *testing.T) {
	assert.False(t, Repeats(Data{N: 10, D: 3, X: gaussians(1, 30)}))
	assert.True(t, Repeats(Data{N: 2, D: 1, X: []float64{0, negativeZero()}}), "the zeros are equal")
}

func negativeZero() float64 { return math.Copysign(0, -1) }

// The sum of unit vectors to the rows vanishes at their geometric median, a
// weight counts as so many rows, and one row far away hardly moves it.
// Equal rows become one where the first of them is, with the sum of the weights.
func TestDistinct(t *testing.T) {
	distinct := Data{N: 2, D: 2, X: []float64{1, 2, 2, 1}}
	require.Equal(t, distinct, Distinct(distinct))
	got := Distinct(Data{N: 5, D: 2, X: []float64{1, 0, 3, 4, 1, negativeZero(), 1, 0, 5, 6}, Weights: []float64{1, 0, 2, 0.5, 7}})
	require.Equal(t, Data{N: 3, D: 2, X: []float64{1, 0, 3, 4, 5, 6}, Weights: []float64{3.5, 0, 7}}, got)
	require.Equal(t, []float64{2}, Distinct(Data{N: 2, D: 1, X: []float64{3, 3}}).Weights)
}

func TestGeometricMedian(t *testing.T) {
	x := Data{N: 41, D: 3, X: gaussians(3, 123)}
	c := GeometricMedian(x)
	pull := make([]float64, 3)
	for i := range x.N {
		unit := make([]float64, 3)
		floats.SubTo(unit, x.Row(i), c)
		floats.AddScaled(pull, 1/floats.Norm(unit, 2)/float64(x.N), unit)
	}
	assert.Less(t, floats.Norm(pull, 2), 1e-4)

	heavy := x
	heavy.Weights = make([]float64, x.N)
	floats.AddConst(1, heavy.Weights)
	heavy.Weights[4] = 3
	twice := Data{N: 43, D: 3, X: append(append(append([]float64(nil), x.X...), x.Row(4)...), x.Row(4)...)}
	assert.InDeltaSlice(t, GeometricMedian(twice), GeometricMedian(heavy), 1e-5)

	far := Data{N: 41, D: 3, X: append([]float64(nil), x.X...)}
	floats.AddConst(1e9, far.Row(7))
	assert.InDeltaSlice(t, c, GeometricMedian(far), 0.3)
	assert.Equal(t, []float64{1, 2}, GeometricMedian(Data{N: 2, D: 2, X: []float64{1, 2, 1, 2}}))
}

// gaussians are standard normal numbers.
func gaussians(seed uint64, n int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}
