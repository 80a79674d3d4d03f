package manifolds_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/manifolds"
)

// dense is the matrix of a point.
func dense(m *manifolds.FixedRank, rows, cols int, x []float64) []float64 {
	w := make([]float64, rows*cols)
	m.Matrix(w, x)
	return w
}

func TestFixedRankLaws(t *testing.T) {
	for _, s := range [][3]int{{1, 1, 1}, {4, 3, 1}, {3, 5, 2}, {4, 4, 3}, {3, 3, 3}, {9, 7, 3}} {
		m := manifolds.NewFixedRank(s[0], s[1], s[2])
		frameworktest.TestManifold(t, m.String(), m, 1)
	}
	frameworktest.TestManifold(t, "large", manifolds.NewFixedRank(100, 60, 4), 1)
}

// TestFixedRankRetractionIsTruncation: the nearest matrix of rank r to W + W' is its
// truncated singular value decomposition.
func TestFixedRankRetractionIsTruncation(t *testing.T) {
	const rows, cols, rank = 8, 6, 2
	m := manifolds.NewFixedRank(rows, cols, rank)
	rng := random(rows, 40)
	for range 20 {
		x, v, y := make([]float64, m.Size()), make([]float64, m.Size()), make([]float64, m.Size())
		m.Rand(x, rng)
		m.Same(x, x, rng)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		m.Project(v, x, v)
		sum := mat.NewDense(rows, cols, floats.AddTo(make([]float64, rows*cols), dense(m, rows, cols, x), motion(m, x, v)))
		assert.InDelta(t, floats.Dot(motion(m, x, v), motion(m, x, v)), m.Inner(x, v, v), 1e-12)
		require.NoError(t, m.Retract(y, x, v))
		var svd mat.SVD
		require.True(t, svd.Factorize(sum, mat.SVDThin))
		var u, w, want mat.Dense
		svd.UTo(&u)
		svd.VTo(&w)
		values := svd.Values(nil)
		clear(values[rank:])
		want.Product(&u, mat.NewDiagDense(cols, values), w.T())
		assert.InDeltaSlice(t, want.RawMatrix().Data, dense(m, rows, cols, y), 1e-12)

		require.NoError(t, m.Truncate(y, sum.RawMatrix().Data))
		assert.Less(t, m.Violation(y), 1e-14)
		assert.InDeltaSlice(t, want.RawMatrix().Data, dense(m, rows, cols, y), 1e-12)
		require.NoError(t, m.Truncate(y, want.RawMatrix().Data)) // of rank 2 up to rounding
	}
}

// motion is the m x n matrix by which a tangent vector moves.
func motion(m *manifolds.FixedRank, x, v []float64) []float64 {
	u, s, w := m.Parts(x)
	a, b, c := m.Parts(v)
	r := int(math.Sqrt(float64(len(s))))
	wrap := func(x []float64) *mat.Dense { return mat.NewDense(len(x)/r, r, x) }
	var sum, next mat.Dense
	sum.Product(wrap(a), wrap(s), wrap(w).T())
	next.Product(wrap(u), wrap(b), wrap(w).T())
	sum.Add(&sum, &next)
	next.Product(wrap(u), wrap(s), wrap(c).T())
	sum.Add(&sum, &next)
	return sum.RawMatrix().Data
}

// TestFixedRankGradient: the gradient from products of G is the projection
// UU'G + GVV' - UU'GVV' of G on the tangent space.
func TestFixedRankGradient(t *testing.T) {
	const rows, cols, rank = 7, 5, 2
	m := manifolds.NewFixedRank(rows, cols, rank)
	rng := random(rows, 41)
	x, g := make([]float64, m.Size()), make([]float64, m.Size())
	m.Rand(x, rng)
	m.Same(x, x, rng)
	full := mat.NewDense(rows, cols, point(manifolds.Euclidean(rows*cols), rng))
	u, _, v := m.Parts(x)
	um, vm := mat.NewDense(rows, rank, u), mat.NewDense(cols, rank, v)
	var gv, gu, left, right, both, want mat.Dense
	gv.Mul(full, vm)
	gu.Mul(full.T(), um)
	m.Factored(g, x, gv.RawMatrix().Data, gu.RawMatrix().Data)
	m.Gradient(g, x, g)
	left.Mul(um, gu.T())
	right.Mul(&gv, vm.T())
	both.Product(um, um.T(), &right)
	want.Add(&left, &right)
	want.Sub(&want, &both)
	assert.InDeltaSlice(t, want.RawMatrix().Data, motion(m, x, g), 1e-13)

	// The same transport from every representative, and from far.
	y, w := make([]float64, m.Size()), make([]float64, m.Size())
	m.Rand(y, rng)
	m.Transport(w, x, y, g)
	yu, _, yv := m.Parts(y)
	um, vm = mat.NewDense(rows, rank, yu), mat.NewDense(cols, rank, yv)
	moved := mat.NewDense(rows, cols, motion(m, x, g))
	left.Product(um, um.T(), moved)
	right.Product(moved, vm, vm.T())
	both.Product(um, um.T(), &right)
	want.Add(&left, &right)
	want.Sub(&want, &both)
	assert.InDeltaSlice(t, want.RawMatrix().Data, motion(m, y, w), 1e-13)
}

func TestFixedRankRefuses(t *testing.T) {
	m := manifolds.NewFixedRank(3, 2, 2)
	x := make([]float64, m.Size())
	m.Rand(x, random(3, 42))
	_, s, _ := m.Parts(x)
	v := make([]float64, m.Size())
	_, change, _ := m.Parts(v)
	floats.SubTo(change, change, s)
	assert.ErrorContains(t, m.Retract(make([]float64, m.Size()), x, v), "3x2 of rank 2: retraction: the rank falls below")
	assert.ErrorContains(t, m.Truncate(x, []float64{1, 2, 2, 4, 3, 6}), "truncation: the rank falls below")
	assert.ErrorContains(t, m.Truncate(x, []float64{1, 2, math.NaN(), 4, 3, 6}), "truncation: entry 2 is NaN")
	clear(s)
	assert.Equal(t, math.Inf(1), m.Violation(x))
	assert.ErrorContains(t, m.Restore(x), "the rank falls below")
	for _, shape := range [][3]int{{3, 2, 0}, {3, 2, 3}, {2, 3, 3}} {
		assert.Panics(t, func() { manifolds.NewFixedRank(shape[0], shape[1], shape[2]) })
	}
}

func TestFixedRankDoesNotAllocate(t *testing.T) {
	if drill.Race {
		t.Skip("the race detector empties pools at random")
	}
	m := manifolds.NewFixedRank(100, 60, 4)
	rng := random(100, 43)
	x, v, y := make([]float64, m.Size()), make([]float64, m.Size()), make([]float64, m.Size())
	m.Rand(x, rng)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	assert.Zero(t, testing.AllocsPerRun(20, func() {
		m.Project(v, x, v)
		m.Gradient(y, x, v)
		m.RiemannianHessian(y, x, v, v, v)
		_ = m.Inner(x, v, y)
		if err := m.Retract(y, x, v); err != nil {
			panic(err)
		}
		m.Transport(y, x, y, v)
	}))
}
