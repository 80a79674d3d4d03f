package rows

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func TestPrincipalComponents(t *testing.T) {
	for _, shape := range [][2]int{{50, 6}, {6, 50}, {5, 5}, {300, 200}, {200, 300}} {
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

// TestWidePrincipalComponents stand above noise to all digits, and in noise along which
// nothing stands out have almost the largest variances there are.
func TestWidePrincipalComponents(t *testing.T) {
	for _, shape := range [][2]int{{420, 410}, {300, 700}} {
		n, D := shape[0], shape[1]
		x := Data{N: n, D: D, X: gaussians(4, n*D), Weights: make([]float64, n)}
		out, along := gaussians(5, n*2), gaussians(6, 2*D)
		for i := range n {
			x.Weights[i] = 1 + float64(i%3)
			for j, row := 0, x.Row(i); j < D; j++ {
				row[j] += 1e5 + 9*out[2*i]*along[j] + 4*out[2*i+1]*along[D+j]
			}
		}
		p, err := PrincipalComponents(t.Context(), x, 5, 2)
		require.NoError(t, err)
		c := mat.NewDense(n, D, append([]float64(nil), x.X...))
		for i := range n {
			row := c.RawRowView(i)
			floats.Sub(row, p.Mean)
			floats.Scale(math.Sqrt(x.Weights[i]), row)
		}
		var svd mat.SVD
		require.True(t, svd.Factorize(c, mat.SVDThin))
		var v mat.Dense
		svd.VTo(&v)
		for a, want := range svd.Values(nil)[:5] {
			axis := p.Axes[a*D : (a+1)*D]
			if a < 2 {
				assert.InDelta(t, 1, math.Abs(floats.Dot(mat.Col(nil, a, &v), axis)), 1e-9, "%v component %d", shape, a)
			}
			var image mat.VecDense
			image.MulVec(c, mat.NewVecDense(D, axis))
			assert.InDelta(t, 1, mat.Norm(&image, 2)/want, 0.01, "%v component %d", shape, a)
		}
		three, err := PrincipalComponents(t.Context(), x, 5, 3)
		require.NoError(t, err)
		assert.Equal(t, p, three, "the number of threads changes nothing")
	}
	// Of rows in a plane two directions are determined, and others complete them.
	n, D := 300, 700
	flat := Data{N: n, D: D, X: make([]float64, n*D)}
	out := gaussians(7, n*2)
	for i := range n {
		flat.X[i*D+3], flat.X[i*D+500] = out[2*i], 1e-3*out[2*i+1]
	}
	p, err := PrincipalComponents(t.Context(), flat, 4, 1)
	require.NoError(t, err)
	assert.InDelta(t, 1, p.Axes[3], 1e-6)
	assert.InDelta(t, 1, p.Axes[D+500], 1e-6)
	axes := mat.NewDense(4, D, p.Axes)
	var gram mat.Dense
	gram.Mul(axes, axes.T())
	assert.True(t, mat.EqualApprox(&gram, mat.NewDiagDense(4, []float64{1, 1, 1, 1}), 1e-14))
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

// One row given twice is found among many, wherever it is.
func TestRepeatsAreFound(t *testing.T) {
	x := Data{N: 5000, D: 2, X: gaussians(1, 10000)}
	assert.False(t, Repeats(x))
	for _, pair := range [][2]int{{0, 1}, {17, 4999}, {2500, 2400}} {
		y := Data{N: x.N, D: x.D, X: slices.Clone(x.X)}
		copy(y.Row(pair[1]), y.Row(pair[0]))
		assert.True(t, Repeats(y), pair)
	}
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
