package dense

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func TestCubicRoots(t *testing.T) {
	for _, want := range [][]float64{{1, 2, 3}, {-1, 0, 1}, {1e-3, 5, 1e4}, {-2, -2, 4}, {2}, {0}} {
		a, b, c, e := 2.0, 0.0, 0.0, 0.0
		switch len(want) {
		case 3:
			b = -2 * (want[0] + want[1] + want[2])
			c = 2 * (want[0]*want[1] + want[0]*want[2] + want[1]*want[2])
			e = -2 * want[0] * want[1] * want[2]
		case 1: // (t - r)(t^2 + t + 7)
			b, c, e = 2*(1-want[0]), 2*(7-want[0]), -14*want[0]
		}
		var roots [3]float64
		n := CubicRoots(&roots, a, b, c, e)
		require.NotZero(t, n)
		for _, w := range want {
			nearest := math.Inf(1)
			for _, r := range roots[:n] {
				nearest = math.Min(nearest, math.Abs(r-w))
			}
			assert.LessOrEqual(t, nearest, 1e-6*(1+math.Abs(w)), "%v has no %v", roots[:n], w)
		}
	}
	var roots [3]float64
	assert.Equal(t, 2, CubicRoots(&roots, 0, 1, -3, 2))
	assert.ElementsMatch(t, []float64{1, 2}, roots[:2])
	assert.Equal(t, 1, CubicRoots(&roots, 0, 0, 2, -4))
	assert.Equal(t, 2.0, roots[0])
	assert.Equal(t, 0, CubicRoots(&roots, 0, 0, 0, 1))
}

func TestNewtonStepDescendsWhateverTheHessian(t *testing.T) {
	for seed := range uint64(50) {
		d := 1 + int(seed%5)
		a, g := gaussians(seed, d*d), gaussians(seed+100, d)
		h := make([]float64, d*d)
		for i := range d {
			for j := range d {
				h[i*d+j] = a[i*d+j] + a[j*d+i]
			}
		}
		step := make([]float64, d)
		NewtonStep(step, h, g, Flat)
		assert.Negative(t, floats.Dot(step, g), "indefinite")
	}
	step := []float64{0, 0}
	NewtonStep(step, []float64{4, 0, 0, 2}, []float64{4, 4}, Flat)
	assert.InDeltaSlice(t, []float64{-1, -2}, step, 1e-15)
	NewtonStep(step, []float64{4, 0, 0, -2}, []float64{4, 4}, Flat)
	assert.InDeltaSlice(t, []float64{-1, -2}, step, 1e-15, "by the magnitudes of the eigenvalues")
	NewtonStep(step, []float64{4, 0, 0, 0}, []float64{4, 4}, Flat)
	assert.InDeltaSlice(t, []float64{-1, -1000}, step, 1e-11, "raised where there is none")
}

func TestPolarIsTheProcrustesSolution(t *testing.T) {
	const n, m = 9, 4
	a := gaussians(3, m*n)
	floats.Scale(1e-7, a[2*n:3*n]) // columns of very different length
	p, q := NewPolar(m, n), make([]float64, m*n)
	moved, ok := p.Factor(q, a, n)
	require.True(t, ok)
	assert.InDelta(t, 2, moved, 1e-14, "from zero to four unit columns")
	var svd mat.SVD
	require.True(t, svd.Factorize(mat.NewDense(m, n, a).T(), mat.SVDThin))
	var u, v, want mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	want.Mul(&u, v.T())
	assert.True(t, mat.EqualApprox(&want, mat.NewDense(m, n, q).T(), 1e-8))
	for i := range m {
		for j := range m {
			dot := floats.Dot(q[i*n:(i+1)*n], q[j*n:(j+1)*n])
			assert.InDelta(t, map[bool]float64{true: 1}[i == j], dot, 1e-14)
		}
	}
	before := append([]float64(nil), q...)
	clear(a[n : 2*n])
	_, ok = p.Factor(q, a, n)
	assert.False(t, ok, "singular")
	assert.Equal(t, before, q)
}

func TestCompleteRows(t *testing.T) {
	a := make([]float64, 5*5)
	copy(a, gaussians(1, 10))
	OrthonormalizeRows(a[:10], 5)
	CompleteRows(a, 2, 5)
	var g mat.Dense
	q := mat.NewDense(5, 5, a)
	g.Mul(q, q.T())
	for i := range 5 {
		g.Set(i, i, g.At(i, i)-1)
	}
	assert.Less(t, mat.Norm(&g, math.Inf(1)), 1e-14)
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

func TestAddProduct(t *testing.T) {
	for _, shape := range [][3]int{{1, 1, 1}, {192, 6, 50}, {17, 6, 500}, {30, 45, 100}, {20, 130, 70}} {
		n, k, cols := shape[0], shape[1], shape[2]
		a, b, c := gaussians(1, n*k), gaussians(2, n*cols), gaussians(3, k*cols)
		var want mat.Dense
		want.Mul(mat.NewDense(n, k, a).T(), mat.NewDense(n, cols, b))
		want.Add(&want, mat.NewDense(k, cols, append([]float64(nil), c...)))
		AddProduct(c, a, b, n, k, cols)
		assert.True(t, floats.EqualApprox(want.RawMatrix().Data, c, 1e-12), shape)
		assert.Zero(t, testing.AllocsPerRun(3, func() { AddProduct(c, a, b, n, k, cols) }), "no threads: %v", shape)
	}
}

func TestSolveCholeskyLanes(t *testing.T) {
	const n, lanes = 5, 19
	random := rand.New(rand.NewPCG(3, 0))
	factors, b := make([]float64, n*(n+1)/2*lanes), make([]float64, n*lanes)
	want := make([][]float64, lanes)
	for j := range lanes {
		l, x := make([]float64, n*n), make([]float64, n)
		for i := range n {
			x[i] = random.NormFloat64()
			for k := range i {
				l[i*n+k] = random.NormFloat64()
			}
			l[i*n+i] = 1 + random.Float64()
			b[i*lanes+j] = x[i]
		}
		StoreCholeskyLane(factors, l, n, j, lanes)
		SolveCholesky(x, l, n)
		want[j] = x
	}
	SolveCholeskyLanes(b, factors, n, lanes)
	for j, x := range want {
		for i, v := range x {
			assert.Equal(t, v, b[i*lanes+j], "lane %d", j)
		}
	}
}
