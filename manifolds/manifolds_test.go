package manifolds_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/manifolds"
)

var (
	_ framework.Exper = manifolds.Euclidean(0)
	_ framework.Exper = manifolds.Sphere(1)
	_ framework.Exper = (*manifolds.Stiefel)(nil)
)

// geodesic is what all manifolds but FixedRank have beyond that.
type geodesic interface {
	manifold
	framework.Constrained
	framework.Logarithm
	framework.Distance
}

var (
	_ geodesic = (*manifolds.Oblique)(nil)
	_ geodesic = (*manifolds.Stiefel)(nil)
	_ geodesic = (*manifolds.Rotations)(nil)
	_ geodesic = (*manifolds.Grassmann)(nil)
	_ interface {
		Same(dst, x []float64, rng *rand.Rand)
	} = (*manifolds.Grassmann)(nil)
	_ geodesic         = (*manifolds.SPD)(nil)
	_ framework.Metric = (*manifolds.SPD)(nil)
	_ geodesic         = manifolds.Hyperbolic(1)
	_ framework.Metric = manifolds.Hyperbolic(1)

	_ interface {
		Same(dst, x []float64, rng *rand.Rand)
	} = (*manifolds.FixedRank)(nil)
	_ framework.Metric           = (*manifolds.FixedRank)(nil)
	_ framework.HessianConverter = (*manifolds.FixedRank)(nil)
)

// manifold is what the manifolds of the package have in common.
type manifold interface {
	fmt.Stringer
	framework.Manifold
	framework.Transporter
	framework.Rander
	framework.Exper
	framework.HessianConverter
	RetractionOrder() int
}

func random(n int, seed uint64) *rand.Rand { return rand.New(rand.NewPCG(uint64(n), seed)) }

func point(m manifold, rng *rand.Rand) []float64 {
	x := make([]float64, m.Size())
	m.Rand(x, rng)
	return x
}

// tangent returns a random tangent vector of the given length.
func tangent(m manifold, x []float64, length float64, rng *rand.Rand) []float64 {
	v := point(manifolds.Euclidean(m.Size()), rng)
	m.Project(v, x, v)
	if norm := floats.Norm(v, 2); norm > 0 {
		floats.Scale(length/norm, v)
	}
	return v
}

func TestManifoldLaws(t *testing.T) {
	list := []manifold{
		manifolds.Euclidean(0), manifolds.Euclidean(1), manifolds.Euclidean(5),
		manifolds.Sphere(1), manifolds.Sphere(2), manifolds.Sphere(7), manifolds.Sphere(784),
	}
	for _, s := range [][2]int{{1, 1}, {3, 1}, {3, 3}, {5, 2}, {5, 4}, {50, 7}, {784, 5}} {
		list = append(list, manifolds.NewStiefel(s[0], s[1]), manifolds.NewPolarStiefel(s[0], s[1]))
		list = append(list, manifolds.NewGrassmann(s[0], s[1]), manifolds.NewOblique(s[0], s[1]))
	}
	for _, n := range []int{1, 2, 3, 4, 7, 20} {
		list = append(list, manifolds.NewRotations(n), manifolds.NewSPD(n), manifolds.Hyperbolic(n))
	}
	for _, m := range list {
		t.Run(fmt.Sprintf("%v order %d", m, m.RetractionOrder()), func(t *testing.T) {
			frameworktest.TestManifold(t, m.String(), m, 1)
		})
	}
}

// gram is tr(Y'AY)/2 + |Y'Y|^2/4 with A = diag(0, 1, ...): a cost that has one value for all YQ.
type gram struct {
	m       framework.Manifold
	columns int
}

func (p gram) Blocks() []framework.Block { return []framework.Block{{Name: "Y", Manifold: p.m}} }

func (p gram) dense(y []float64) *mat.Dense { return mat.NewDense(len(y)/p.columns, p.columns, y) }

// scaled is AY.
func (p gram) scaled(y []float64) *mat.Dense {
	a := mat.DenseCopyOf(p.dense(y))
	for i := range len(y) / p.columns {
		floats.Scale(float64(i), a.RawRowView(i))
	}
	return a
}

func (p gram) Evaluate(grad, x framework.Point) (float64, error) {
	y, ay := p.dense(x[0]), p.scaled(x[0])
	var square, more mat.Dense
	square.Mul(y.T(), y)
	if grad != nil {
		more.Mul(y, &square)
		p.dense(grad[0]).Add(ay, &more)
	}
	return floats.Dot(x[0], ay.RawMatrix().Data)/2 + math.Pow(mat.Norm(&square, 2), 2)/4, nil
}

func (p gram) HessianProduct(dst, x, v framework.Point) error {
	y, w, sum := p.dense(x[0]), p.dense(v[0]), p.scaled(v[0])
	for _, t := range [][3]*mat.Dense{{w, y, y}, {y, w, y}, {y, y, w}} {
		var inner, part mat.Dense
		inner.Mul(t[1].T(), t[2])
		part.Mul(t[0], &inner)
		sum.Add(sum, &part)
	}
	p.dense(dst[0]).Copy(sum)
	return nil
}

func TestHessiansOfQuotients(t *testing.T) {
	for _, p := range []gram{
		{manifolds.NewGrassmann(5, 2), 2}, {manifolds.NewGrassmann(4, 1), 1}, {manifolds.NewElliptope(6, 3), 3},
		{manifolds.NewPSDFixedRank(6, 2), 2}, {manifolds.NewPSDFixedRank(9, 4), 4},
	} {
		frameworktest.TestProblem(t, fmt.Sprint(p.m), p, frameworktest.ProblemOptions{Seed: 3})
	}
}

func TestDimensions(t *testing.T) {
	assert.Equal(t, 3, manifolds.NewStiefel(3, 3).Dim())
	assert.Equal(t, 3905, manifolds.NewStiefel(784, 5).Dim())
	assert.Equal(t, 3920, manifolds.NewStiefel(784, 5).Size())
	assert.Equal(t, 6, manifolds.Sphere(7).Dim())
	assert.Equal(t, 5, manifolds.Euclidean(5).Dim())
}

// TestRetractionSlopes pins the order of the retractions from both sides: a
// suite that only asks for "at least" would not notice a mislabelled one.
func TestRetractionSlopes(t *testing.T) {
	cases := []struct {
		m    manifold
		want float64
	}{
		{manifolds.NewStiefel(5, 2), 2}, {manifolds.NewStiefel(50, 7), 2}, {manifolds.NewStiefel(784, 5), 2},
		{manifolds.NewPolarStiefel(5, 2), 3}, {manifolds.NewPolarStiefel(50, 7), 3}, {manifolds.NewPolarStiefel(784, 5), 3},
		{manifolds.Sphere(7), 3},
	}
	for _, c := range cases {
		rng := random(c.m.Size(), 1)
		x := point(c.m, rng)
		v := tangent(c.m, x, 1, rng)
		n := c.m.Size()
		step, y, z := make([]float64, n), make([]float64, n), make([]float64, n)
		slope := func(remainder func(t float64) (float64, error)) float64 {
			s, err := frameworktest.TaylorSlope(func(t float64) (float64, float64, error) {
				floats.ScaleTo(step, t, v)
				if err := c.m.Retract(y, x, step); err != nil {
					return 0, 0, err
				}
				e, err := remainder(t)
				return e, floats.Norm(x, 2), err
			})
			require.NoError(t, err)
			require.False(t, s.Exact)
			return s.Slope
		}
		exp := slope(func(float64) (float64, error) {
			err := c.m.Exp(z, x, step)
			return floats.Distance(y, z, 2), err
		})
		tangential := slope(func(float64) (float64, error) {
			floats.Sub(y, x)
			floats.Sub(y, step)
			c.m.Project(y, x, y)
			return floats.Norm(y, 2), nil
		})
		t.Logf("%v order %d: slope against exp %.3f, of the tangential part %.3f", c.m, c.m.RetractionOrder(), exp, tangential)
		assert.Equal(t, c.want, float64(c.m.RetractionOrder()+1))
		assert.InDelta(t, c.want, exp, 0.05)
		assert.InDelta(t, c.want, tangential, 0.05)
	}
}

func TestStiefelAgainstMat(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {3, 1}, {3, 3}, {5, 2}, {50, 7}, {40, 40}, {200, 140}} {
		n, p := s[0], s[1]
		qr, polar := manifolds.NewStiefel(n, p), manifolds.NewPolarStiefel(n, p)
		rng := random(n*p, 2)
		x := point(qr, rng)
		v := tangent(qr, x, 3, rng)
		sum := mat.NewDense(n, p, floats.AddTo(make([]float64, n*p), x, v))
		got := make([]float64, n*p)

		require.NoError(t, qr.Retract(got, x, v))
		assert.InDeltaSlice(t, thinQ(sum).RawMatrix().Data, got, 1e-13, "%v", qr)

		require.NoError(t, polar.Retract(got, x, v))
		assert.InDeltaSlice(t, polarFactor(sum).RawMatrix().Data, got, 1e-13, "%v", polar)
		assert.Less(t, polar.Violation(got), 1e-14)

		copy(got, sum.RawMatrix().Data)
		require.NoError(t, qr.Restore(got))
		assert.InDeltaSlice(t, polarFactor(sum).RawMatrix().Data, got, 1e-13, "restore %v", qr)

		// (X + V)(I + V'V)^{-1/2} literally: the square gives (X + V)'(X + V).
		var r, gram mat.Dense
		require.NoError(t, polar.Retract(got, x, v))
		r.Mul(mat.NewDense(n, p, got).T(), sum)
		gram.Mul(mat.NewDense(n, p, v).T(), mat.NewDense(n, p, v))
		for i := range p {
			gram.Set(i, i, gram.At(i, i)+1)
		}
		r.Mul(&r, r.T())
		assert.True(t, mat.EqualApprox(&r, &gram, 1e-12))
	}
}

// thinQ is the factor Q, with positive diagonal of R, by mat.QR.
func thinQ(a *mat.Dense) *mat.Dense {
	n, p := a.Dims()
	var qr mat.QR
	qr.Factorize(a)
	var q, r mat.Dense
	qr.QTo(&q)
	qr.RTo(&r)
	thin := mat.DenseCopyOf(q.Slice(0, n, 0, p))
	for j := range p {
		if r.At(j, j) < 0 {
			for i := range n {
				thin.Set(i, j, -thin.At(i, j))
			}
		}
	}
	return thin
}

// polarFactor is the orthonormal polar factor by the thin SVD of the matrix.
func polarFactor(a *mat.Dense) *mat.Dense {
	var svd mat.SVD
	svd.Factorize(a, mat.SVDThin)
	var u, v, q mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	q.Mul(&u, v.T())
	return &q
}

// TestStiefelExpAgainstEdelman compares with the formula as first published,
// [X V] exp([A -V'V; I A]) [I; 0] exp(-A).
func TestStiefelExpAgainstEdelman(t *testing.T) {
	for _, s := range [][2]int{{3, 1}, {3, 3}, {4, 3}, {5, 2}, {50, 7}} {
		n, p := s[0], s[1]
		m := manifolds.NewStiefel(n, p)
		rng := random(n*p, 3)
		x := point(m, rng)
		v := tangent(m, x, 2, rng)
		xm, vm := mat.NewDense(n, p, x), mat.NewDense(n, p, v)
		var a, vv, e, back, xv, want mat.Dense
		a.Mul(xm.T(), vm)
		vv.Mul(vm.T(), vm)
		k := mat.NewDense(2*p, 2*p, nil)
		for i := range p {
			k.Set(p+i, i, 1)
			for j := range p {
				k.Set(i, j, a.At(i, j))
				k.Set(p+i, p+j, a.At(i, j))
				k.Set(i, p+j, -vv.At(i, j))
			}
		}
		e.Exp(k)
		back.Exp(a.T())
		xv.Augment(xm, vm)
		want.Product(&xv, e.Slice(0, 2*p, 0, p), &back)

		got := make([]float64, n*p)
		require.NoError(t, m.Exp(got, x, v))
		assert.InDeltaSlice(t, want.RawMatrix().Data, got, 1e-13, "%v", m)
	}
}

// TestStiefelLimits: St(n, 1) is the sphere, and St(n, n) the orthogonal group,
// whose geodesics are X exp(X'V).
func TestStiefelLimits(t *testing.T) {
	rng := random(0, 4)
	stiefel, sphere := manifolds.NewStiefel(6, 1), manifolds.Sphere(6)
	x := point(sphere, rng)
	v := tangent(sphere, x, 2.5, rng)
	y := point(sphere, rng)
	got, want := make([]float64, 6), make([]float64, 6)
	for _, m := range []*manifolds.Stiefel{stiefel, manifolds.NewPolarStiefel(6, 1)} {
		require.NoError(t, m.Retract(got, x, v))
		require.NoError(t, sphere.Retract(want, x, v))
		assert.InDeltaSlice(t, want, got, 1e-14)
	}
	require.NoError(t, stiefel.Exp(got, x, v))
	require.NoError(t, sphere.Exp(want, x, v))
	assert.InDeltaSlice(t, want, got, 1e-14)
	stiefel.RiemannianHessian(got, x, y, v, v)
	sphere.RiemannianHessian(want, x, y, v, v)
	assert.InDeltaSlice(t, want, got, 1e-14)

	group := manifolds.NewStiefel(4, 4)
	x = point(group, rng)
	v = tangent(group, x, 2.5, rng)
	got = make([]float64, 16)
	require.NoError(t, group.Exp(got, x, v))
	var a, e mat.Dense
	a.Mul(mat.NewDense(4, 4, x).T(), mat.NewDense(4, 4, v))
	e.Exp(&a)
	a.Mul(mat.NewDense(4, 4, x), &e)
	assert.InDeltaSlice(t, a.RawMatrix().Data, got, 1e-13)
}

func TestSphereGeodesics(t *testing.T) {
	m := manifolds.Sphere(3)
	x, y := []float64{1, 0, 0}, make([]float64, 3)
	require.NoError(t, m.Exp(y, x, []float64{0, math.Pi / 2, 0}))
	assert.InDeltaSlice(t, []float64{0, 1, 0}, y, 1e-15)
	require.NoError(t, m.Exp(y, x, []float64{0, 0, 2 * math.Pi}))
	assert.InDeltaSlice(t, x, y, 1e-15)

	// Parallel transport keeps inner products and the direction of travel.
	rng := random(3, 5)
	m = manifolds.Sphere(9)
	x, y = point(m, rng), make([]float64, 9)
	u, v := tangent(m, x, 1.2, rng), tangent(m, x, 0.7, rng)
	require.NoError(t, m.Exp(y, x, u))
	inner := floats.Dot(u, v)
	m.Transport(v, x, y, v)
	along := make([]float64, 9)
	m.Transport(along, x, y, u)
	assert.InDelta(t, inner, floats.Dot(along, v), 1e-14)
	back := make([]float64, 9)
	require.NoError(t, m.Exp(back, y, floats.ScaleTo(make([]float64, 9), -1, along)))
	assert.InDeltaSlice(t, x, back, 1e-14)

	antipode := floats.ScaleTo(make([]float64, 9), -1, x)
	m.Transport(v, x, antipode, u)
	assert.Equal(t, u, v)
}

func TestStiefelKeepsSignConvention(t *testing.T) {
	m := manifolds.NewStiefel(6, 3)
	rng := random(6, 7)
	x, q := point(m, rng), make([]float64, 18)
	for range 100 {
		v := tangent(m, x, 5, rng)
		require.NoError(t, m.Retract(q, x, v))
		var r mat.Dense
		r.Mul(mat.NewDense(6, 3, q).T(), mat.NewDense(6, 3, floats.AddTo(make([]float64, 18), x, v)))
		for i := range 3 {
			require.Positive(t, r.At(i, i))
			for j := range i {
				require.InDelta(t, 0, r.At(i, j), 1e-14)
			}
		}
	}
	// Zero columns count as +, and the result is orthonormal all the same.
	floats.ScaleTo(q, -1, x)
	y := make([]float64, 18)
	for _, m := range []*manifolds.Stiefel{m, manifolds.NewPolarStiefel(6, 3)} {
		require.NoError(t, m.Retract(y, x, q))
		assert.Less(t, m.Violation(y), 1e-15)
	}
}

// TestStiefelHugeSteps: whatever is finite works, up to the end of the range.
func TestStiefelHugeSteps(t *testing.T) {
	for _, m := range []*manifolds.Stiefel{
		manifolds.NewStiefel(3, 3), manifolds.NewPolarStiefel(3, 3),
		manifolds.NewStiefel(784, 5), manifolds.NewPolarStiefel(784, 5),
	} {
		rng := random(m.Size(), 8)
		x, y := point(m, rng), make([]float64, m.Size())
		for _, length := range []float64{1e-300, 1e8, 1e16, 1e153, 1e160, 1e200, 1e308} {
			require.NoError(t, m.Retract(y, x, tangent(m, x, length, rng)), "length %g", length)
			assert.Less(t, m.Violation(y), 1e-14, "length %g", length)
		}
		v := tangent(m, x, 1, rng)
		v[4] = math.Inf(1)
		assert.ErrorContains(t, m.Retract(y, x, v), "is +Inf")
	}
	err := manifolds.NewStiefel(2, 1).Retract(make([]float64, 2), []float64{1, 0}, []float64{0, math.NaN()})
	assert.EqualError(t, err, "manifolds: stiefel 2x1: retraction of x+v: entry (1, 0) is NaN")
}

func TestExpOfLongSteps(t *testing.T) {
	m := manifolds.NewStiefel(5, 2)
	rng := random(5, 9)
	x, y := point(m, rng), make([]float64, 10)
	require.NoError(t, m.Exp(y, x, tangent(m, x, 1e6, rng)))
	assert.Less(t, m.Violation(y), 1e-14)
	assert.ErrorContains(t, m.Exp(y, x, tangent(m, x, 1e8, rng)), "manifolds: stiefel 5x2: exponential: the length of v is ")
}

// TestRetractionsDoNotDrift: ten thousand steps leave the points as exact as
// one does.
func TestRetractionsDoNotDrift(t *testing.T) {
	steps := 10_000
	if testing.Short() || drill.Race {
		steps = 500
	}
	for _, m := range []manifold{
		manifolds.NewStiefel(3, 3), manifolds.NewPolarStiefel(3, 3), manifolds.NewStiefel(784, 5), manifolds.Sphere(3),
	} {
		rng := random(m.Size(), 10)
		x := point(m, rng)
		v := tangent(m, x, 0.1, rng)
		violation := m.(framework.Constrained).Violation
		var worst float64
		for range steps {
			require.NoError(t, m.Retract(x, x, v))
			m.Project(v, x, v)
			worst = math.Max(worst, violation(x))
		}
		t.Logf("%v order %d: violation %.1e", m, m.RetractionOrder(), worst)
		assert.Less(t, worst, 1e-14)
	}
}

func TestViolationAndRestore(t *testing.T) {
	m := manifolds.NewStiefel(3, 2)
	assert.InDelta(t, 0.5, m.Violation([]float64{1, 0.5, 0, 1, 0, 0}), 1e-15)
	assert.InDelta(t, 3, m.Violation([]float64{2, 0, 0, 1, 0, 0}), 1e-15)
	assert.Equal(t, math.Inf(1), m.Violation([]float64{2, 0, math.NaN(), 1, 0, 0}))
	assert.Equal(t, math.Inf(1), manifolds.Sphere(2).Violation([]float64{0, math.NaN()}))
	assert.InDelta(t, 24, manifolds.Sphere(2).Violation([]float64{3, 4}), 1e-15)

	x := make([]float64, 6) // no nearest point is nearer than another
	require.NoError(t, m.Restore(x))
	assert.Less(t, m.Violation(x), 1e-15)
	x = []float64{3e200, 0, 0, 2e200, 0, 0}
	require.NoError(t, m.Restore(x))
	assert.InDeltaSlice(t, []float64{1, 0, 0, 1, 0, 0}, x, 1e-15)

	s := manifolds.Sphere(2)
	for _, x := range [][]float64{{3, 4}, {3e307, 4e307}, {1.2e308, 1.6e308}, {3e-315, 4e-315}} {
		require.NoError(t, s.Restore(x))
		assert.InDeltaSlice(t, []float64{0.6, 0.8}, x, 1e-7)
		assert.Less(t, s.Violation(x), 1e-15)
	}
	assert.ErrorContains(t, s.Restore([]float64{0, 0}), "manifolds: sphere 2: restoring: ")
}

// TestRandIsUniform: by symmetry the entries of a Haar matrix have mean 0 and
// their squares 1/n. Without the sign convention the diagonal fails.
func TestRandIsUniform(t *testing.T) {
	const draws = 20_000
	for _, m := range []manifold{
		manifolds.NewStiefel(3, 3), manifolds.NewStiefel(3, 2), manifolds.Sphere(3),
		manifolds.NewRotations(3), manifolds.NewGrassmann(3, 2), manifolds.NewOblique(3, 2),
	} {
		rng := random(m.Size(), 11)
		mean, square := make([]float64, m.Size()), make([]float64, m.Size())
		for range draws {
			for i, xi := range point(m, rng) {
				mean[i] += xi / draws
				square[i] += xi * xi / draws
			}
		}
		for i := range mean {
			// 5 standard deviations.
			assert.InDelta(t, 0, mean[i], 5*math.Sqrt(1.0/3/draws), "%v", m)
			assert.InDelta(t, 1.0/3, square[i], 5*math.Sqrt(4.0/45/draws), "%v", m)
		}
	}
}

func TestWrongUsePanics(t *testing.T) {
	for _, s := range [][2]int{{0, 0}, {2, 0}, {2, 3}, {-1, -2}} {
		assert.Panics(t, func() { manifolds.NewStiefel(s[0], s[1]) })
		assert.Panics(t, func() { manifolds.NewGrassmann(s[0], s[1]) })
	}
	assert.Panics(t, func() { manifolds.NewOblique(0, 1) })
	assert.Panics(t, func() { manifolds.NewOblique(1, 0) })
	assert.Panics(t, func() { manifolds.NewRotations(0) })
	assert.Panics(t, func() { manifolds.NewSPD(0) })
	for _, m := range []framework.Manifold{manifolds.Sphere(0), manifolds.Euclidean(-2), manifolds.Positive(-1), manifolds.Hyperbolic(-1)} {
		assert.Panics(t, func() { m.Size() })
		assert.Panics(t, func() { m.Dim() })
	}
	assert.PanicsWithValue(t, "manifolds: slice of length 5 where the manifold has size 6", func() {
		manifolds.NewStiefel(3, 2).Project(make([]float64, 6), make([]float64, 6), make([]float64, 5))
	})
	assert.Panics(t, func() { manifolds.Euclidean(2).Project(make([]float64, 2), make([]float64, 2), make([]float64, 3)) })
	assert.Panics(t, func() { manifolds.Sphere(2).Project(make([]float64, 2), make([]float64, 2), make([]float64, 3)) })
}

func TestHotMethodsDoNotAllocate(t *testing.T) {
	if drill.Race {
		t.Skip("the race detector empties pools at random")
	}
	for _, m := range []manifold{
		manifolds.Euclidean(784), manifolds.Sphere(784), manifolds.NewStiefel(3, 3),
		manifolds.NewStiefel(784, 5), manifolds.NewStiefel(784, 38), manifolds.NewPolarStiefel(784, 32),
		manifolds.NewOblique(20, 30), manifolds.NewRotations(2), manifolds.NewRotations(3), manifolds.NewGrassmann(784, 5),
		manifolds.NewSPD(6), manifolds.Hyperbolic(784),
	} {
		rng := random(m.Size(), 12)
		x, y := point(m, rng), make([]float64, m.Size())
		v := tangent(m, x, 1, rng)
		var fm framework.Manifold = m
		assert.Zero(t, testing.AllocsPerRun(20, func() {
			fm.Project(y, x, v)
			m.RiemannianHessian(y, x, v, v, v)
			_ = fm.Retract(y, x, v)
			m.Transport(y, x, x, v)
			_, stiefel := m.(*manifolds.Stiefel) // whose geodesics take matrices of their own
			if g, ok := m.(geodesic); ok && !stiefel {
				m.Project(v, x, v)
				require.NoError(t, g.Exp(y, x, v))
				require.NoError(t, g.Log(y, x, y))
				_, _ = g.Distance(x, x)
				require.NoError(t, g.Exp(y, x, v))
				_ = g.Violation(y)
				require.NoError(t, g.Restore(y))
			}
			if g, ok := m.(framework.Metric); ok {
				_ = g.Inner(x, v, x)
				g.Gradient(y, x, v)
			}
		}), "%v", m)
	}
}

// BenchmarkStiefelRetract measures the retraction and, as its rival, the QR
// factorization of package mat, which forms a square Q.
func BenchmarkStiefelRetract(b *testing.B) {
	for _, s := range [][2]int{{3, 3}, {784, 5}, {784, 38}} {
		n, p := s[0], s[1]
		m := manifolds.NewStiefel(n, p)
		rng := random(n*p, 13)
		x, y := point(m, rng), make([]float64, n*p)
		v := tangent(m, x, 1, rng)
		for _, m := range []*manifolds.Stiefel{m, manifolds.NewPolarStiefel(n, p)} {
			b.Run(fmt.Sprintf("%dx%d/order%d", n, p, m.RetractionOrder()), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_ = m.Retract(y, x, v)
				}
			})
		}
		b.Run(fmt.Sprintf("%dx%d/mat.QR", n, p), func(b *testing.B) {
			sum := mat.NewDense(n, p, nil)
			var qr mat.QR
			var q mat.Dense
			b.ReportAllocs()
			for b.Loop() {
				floats.AddTo(sum.RawMatrix().Data, x, v)
				qr.Factorize(sum)
				q.Reset()
				qr.QTo(&q)
			}
		})
	}
}

func BenchmarkStiefelProject(b *testing.B) {
	for _, s := range [][2]int{{3, 3}, {784, 5}, {784, 38}} {
		m := manifolds.NewStiefel(s[0], s[1])
		rng := random(m.Size(), 14)
		x, y := point(m, rng), make([]float64, m.Size())
		v := tangent(m, x, 1, rng)
		b.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Project(y, x, v)
			}
		})
	}
}
