package manifolds_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

// along returns the point at a fraction of the geodesic from x to y.
func along(t *testing.T, m geodesic, x, y []float64, fraction float64) []float64 {
	t.Helper()
	v := make([]float64, m.Size())
	require.NoError(t, m.Log(v, x, y))
	floats.Scale(fraction, v)
	require.NoError(t, m.Exp(v, x, v))
	return v
}

func curved() []geodesic {
	return []geodesic{
		manifolds.NewOblique(4, 6), manifolds.NewRotations(2), manifolds.NewRotations(3), manifolds.NewRotations(6),
		manifolds.NewGrassmann(7, 3), manifolds.NewSPD(4), manifolds.Hyperbolic(3), manifolds.Sphere(5),
	}
}

// TestLogReachesFarPoints: the geodesic from one random point to another ends
// there, at the distance from the middle that is half of the whole.
func TestLogReachesFarPoints(t *testing.T) {
	for _, m := range curved() {
		rng := random(m.Size(), 20)
		for range 50 {
			x, y := point(m, rng), point(m, rng)
			d, err := m.Distance(x, y)
			require.NoError(t, err)
			end, err := m.Distance(along(t, m, x, y, 1), y)
			require.NoError(t, err)
			assert.Less(t, end, 1e-12*(1+d), "%v", m)
			half, err := m.Distance(along(t, m, x, y, 0.5), y)
			require.NoError(t, err)
			assert.InDelta(t, d/2, half, 1e-12*(1+d), "%v", m)
		}
	}
}

// TestShortDistancesKeepTheirDigits: steps of 1e-9 come back with seven digits,
// which an arc cosine of an inner product would lose all.
func TestShortDistancesKeepTheirDigits(t *testing.T) {
	for _, m := range curved() {
		rng := random(m.Size(), 21)
		x, y, w := point(m, rng), make([]float64, m.Size()), make([]float64, m.Size())
		v := tangent(m, x, 1e-9, rng)
		b := framework.Block{Manifold: m}
		require.NoError(t, m.Exp(y, x, v))
		d, err := m.Distance(x, y)
		require.NoError(t, err)
		assert.InEpsilon(t, b.Norm(x, v), d, 1e-6, "%v", m)
		require.NoError(t, m.Log(w, x, y))
		assert.InDeltaSlice(t, v, w, 2e-15, "%v", m)
	}
}

// TestTransportsKeepLengths: parallel transports are isometries, along the
// geodesic they carry its direction.
func TestTransportsKeepLengths(t *testing.T) {
	for _, m := range curved() {
		if _, ok := m.(interface {
			Same(dst, x []float64, rng *rand.Rand)
		}); ok {
			continue
		}
		rng := random(m.Size(), 22)
		b := framework.Block{Manifold: m}
		for range 20 {
			x, y := point(m, rng), point(m, rng)
			u, v := tangent(m, x, 1, rng), tangent(m, x, 1, rng)
			want := b.Inner(x, u, v)
			m.Transport(u, x, y, u)
			m.Transport(v, x, y, v)
			assert.InDelta(t, want, b.Inner(y, u, v), 1e-10*(1+math.Abs(want)), "%v", m)

			forth, back := make([]float64, m.Size()), make([]float64, m.Size())
			require.NoError(t, m.Log(forth, x, y))
			require.NoError(t, m.Log(back, y, x))
			m.Transport(forth, x, y, forth)
			floats.Scale(-1, back)
			assert.InDeltaSlice(t, back, forth, 1e-9*(1+floats.Norm(back, 2)), "%v", m)
		}
	}
}

// TestLogAtAntipodes: where several geodesics are the shortest, one is written.
func TestLogAtAntipodes(t *testing.T) {
	s := manifolds.Sphere(4)
	x := point(s, random(4, 23))
	for _, off := range []float64{0, 1e-300, 1e-17, 1e-16, 1e-14, 1e-9, 1e-3} {
		y := floats.ScaleTo(make([]float64, 4), -1, x)
		floats.AddScaled(y, 1, tangent(s, x, off, random(4, 24)))
		require.NoError(t, s.Restore(y))
		v := make([]float64, 4)
		require.NoError(t, s.Log(v, x, y))
		assert.InDelta(t, 0, floats.Dot(v, x), 1e-14)
		assert.InDelta(t, math.Pi-off, floats.Norm(v, 2), 1e-9)
		require.NoError(t, s.Exp(v, x, v))
		assert.InDeltaSlice(t, y, v, 2e-15, "%g from the antipode", off)
	}
	assert.Error(t, manifolds.Sphere(1).Log(make([]float64, 1), []float64{1}, []float64{-1}))

	for _, n := range []int{2, 3, 4, 5} {
		checkTurns(t, n)
	}
	reflection := []float64{-1, 0, 0, 1}
	_, err := manifolds.NewRotations(2).Distance([]float64{1, 0, 0, 1}, reflection)
	assert.ErrorContains(t, err, "rotations 2: distance: x'y is no rotation")
	assert.Equal(t, 2.0, manifolds.NewRotations(2).Violation(reflection))

	// Orthogonal planes of R^4 are pi/2 apart in both angles.
	g := manifolds.NewGrassmann(4, 2)
	a, b := []float64{1, 0, 0, 1, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0, 1, 1, 0}
	d, err := g.Distance(a, b)
	require.NoError(t, err)
	assert.InDelta(t, math.Pi/math.Sqrt2, d, 1e-15)
	off, err := g.Distance(along(t, g, a, b, 1), b)
	require.NoError(t, err)
	assert.Less(t, off, 1e-15)
}

// checkTurns takes turns by pi, by almost that, and by almost nothing, in one plane
// and in two.
func checkTurns(t *testing.T, n int) {
	t.Helper()
	m := manifolds.NewRotations(n)
	for _, angles := range [][]float64{
		{math.Pi, 0}, {math.Pi, math.Pi}, {math.Pi - 1e-9, math.Pi}, {math.Pi - 1e-9, 1e-9}, {2, 2}, {1e-12, 3}, {3, 1e-12}, {0, 0},
	} {
		angles = angles[:n/2]
		x, q := point(m, random(n, 25)), point(m, random(n, 26))
		turn := mat.NewDense(n, n, nil)
		for i := range n {
			turn.Set(i, i, 1)
		}
		for i, a := range angles {
			sin, cos := math.Sincos(a)
			turn.Set(2*i, 2*i, cos)
			turn.Set(2*i+1, 2*i+1, cos)
			turn.Set(2*i+1, 2*i, sin)
			turn.Set(2*i, 2*i+1, -sin)
		}
		var y mat.Dense
		y.Product(mat.NewDense(n, n, x), mat.NewDense(n, n, q), turn, mat.NewDense(n, n, q).T())
		d, err := m.Distance(x, y.RawMatrix().Data)
		require.NoError(t, err)
		assert.InDelta(t, math.Sqrt2*floats.Norm(angles, 2), d, 1e-13, "%d %v", n, angles)
		assert.InDeltaSlice(t, y.RawMatrix().Data, along(t, m, x, y.RawMatrix().Data, 1), 1e-14, "%d %v", n, angles)
	}
}

// TestPrincipalAngles builds subspaces with known angles.
func TestPrincipalAngles(t *testing.T) {
	angles := []float64{1e-8, 0.3, 1.2, math.Pi / 2}
	n, p := 9, 4
	m := manifolds.NewGrassmann(n, p)
	rng := random(9, 27)
	q := point(manifolds.NewStiefel(n, 2*p), rng)
	basis := mat.NewDense(n, 2*p, q)
	x, y := make([]float64, n*p), make([]float64, n*p)
	for j, a := range angles {
		sin, cos := math.Sincos(a)
		for i := range n {
			x[i*p+j] = basis.At(i, j)
			y[i*p+j] = cos*basis.At(i, j) + sin*basis.At(i, p+j)
		}
	}
	m.Same(y, y, rng)
	d, err := m.Distance(x, y)
	require.NoError(t, err)
	assert.InDelta(t, floats.Norm(angles, 2), d, 1e-14)
}

// TestGeometricMean: the middle of X and Y is X (X^-1 Y)^(1/2), which for 2 x 2
// matrices of determinant 1 is (X + Y) / sqrt(det(X + Y)). Bhatia 2007, 4.1.12.
func TestGeometricMean(t *testing.T) {
	m := manifolds.NewSPD(2)
	rng := random(2, 28)
	for range 20 {
		x, y := point(m, rng), point(m, rng)
		for _, a := range [][]float64{x, y} {
			floats.Scale(1/math.Sqrt(a[0]*a[3]-a[1]*a[2]), a)
		}
		want := floats.AddTo(make([]float64, 4), x, y)
		floats.Scale(1/math.Sqrt(want[0]*want[3]-want[1]*want[2]), want)
		assert.InDeltaSlice(t, want, along(t, m, x, y, 0.5), 1e-13)
	}
	// Close to each other: (1+t) X is sqrt(2) log(1+t) from X, to the last digits.
	x := []float64{7, 3, 3, 5}
	y := floats.ScaleTo(make([]float64, 4), 1+0x1p-40, x) // exact
	d, err := m.Distance(x, y)
	require.NoError(t, err)
	assert.InEpsilon(t, math.Sqrt2*math.Log1p(0x1p-40), d, 1e-12)
	// Far from each other, and ill-conditioned: diagonal matrices in closed form.
	d, err = m.Distance([]float64{1e-13, 0, 0, 1}, []float64{1e13, 0, 0, 1})
	require.NoError(t, err)
	assert.InEpsilon(t, 26*math.Ln10, d, 1e-14)

	for _, bad := range [][]float64{{1, 2, 2, 1}, {0, 0, 0, 1}, {1, math.NaN(), 0, 1}, {math.Inf(1), 0, 0, 1}} {
		assert.Equal(t, math.Inf(1), m.Violation(bad))
		assert.ErrorContains(t, m.Restore(append([]float64(nil), bad...)), "manifolds: spd 2: restoring x: ")
		assert.ErrorContains(t, m.Retract(make([]float64, 4), bad, make([]float64, 4)), "positive definite")
		assert.ErrorContains(t, m.Exp(make([]float64, 4), bad, make([]float64, 4)), "positive definite")
		assert.ErrorContains(t, m.Log(make([]float64, 4), []float64{1, 0, 0, 1}, bad), "positive definite")
	}
}

// TestKabsch: the nearest rotation maximises trace(R'A). An independent answer:
// no rotation near it is better, and reflections are not taken.
func TestKabsch(t *testing.T) {
	m := manifolds.NewRotations(3)
	rng := random(3, 29)
	for range 50 {
		a := point(manifolds.Euclidean(9), rng)
		r := append([]float64(nil), a...)
		require.NoError(t, m.Restore(r))
		assert.Less(t, m.Violation(r), 1e-14)
		for range 50 {
			y := make([]float64, 9)
			require.NoError(t, m.Exp(y, r, tangent(m, r, 3*rng.Float64(), rng)))
			assert.LessOrEqual(t, floats.Dot(y, a), floats.Dot(r, a)+1e-13)
		}
	}
	// Steps so long that X is lost in them still end at a rotation.
	for _, n := range []int{3, 4, 5} {
		m := manifolds.NewRotations(n)
		for range 20 {
			x, y := point(m, rng), make([]float64, n*n)
			for _, length := range []float64{1e8, 1e16, 1e100, 1e307} {
				require.NoError(t, m.Retract(y, x, tangent(m, x, length, rng)))
				assert.Less(t, m.Violation(y), 1e-13)
			}
		}
	}
}

// TestRotationVectors: in SO(3) the exponential is the formula of Rodrigues.
func TestRotationVectors(t *testing.T) {
	m := manifolds.NewRotations(3)
	identity := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	rng := random(3, 30)
	for _, angle := range []float64{1e-12, 0.1, 2, 3.1, 7} {
		axis := point(manifolds.Sphere(3), rng)
		k := mat.NewDense(3, 3, []float64{0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0})
		var k2, want mat.Dense
		k2.Mul(k, k)
		k2.Scale(1-math.Cos(angle), &k2)
		want.Scale(math.Sin(angle), k)
		want.Add(&want, &k2)
		want.Add(&want, mat.NewDense(3, 3, identity))
		y := floats.ScaleTo(make([]float64, 9), angle, k.RawMatrix().Data)
		require.NoError(t, m.Exp(y, identity, y))
		assert.InDeltaSlice(t, want.RawMatrix().Data, y, 1e-14)
	}
	// Turns by pi about the axes, and about axes that lack a component.
	for _, axis := range [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.6, 0.8, 0}, {0.8, 0, 0.6}, {0, 0.6, 0.8}} {
		turn, v := make([]float64, 9), make([]float64, 9)
		for i := range 3 {
			for j := range 3 {
				turn[3*i+j] = 2*axis[i]*axis[j] - identity[3*i+j]
			}
		}
		require.NoError(t, m.Log(v, identity, turn))
		assert.InDelta(t, math.Pi, floats.Norm([]float64{v[7], v[2], v[3]}, 2), 1e-15)
		for i, w := range []float64{v[7], v[2], v[3]} {
			assert.InDelta(t, math.Pi*axis[i], math.Abs(w), 1e-14)
		}
		require.NoError(t, m.Exp(v, identity, v))
		assert.InDeltaSlice(t, turn, v, 1e-15)
	}
}

// TestHalfSpaceDistances compares with the distance 2 artanh(|z-w| / |z-conj w|)
// of the half plane, and far out with numbers of 400 bits.
func TestHalfSpaceDistances(t *testing.T) {
	m := manifolds.Hyperbolic(2)
	// The half plane point u + iv has the Lorentz coordinates
	// ((1+|z|^2)/2v, (1-|z|^2)/2v, u/v).
	lorentz := func(u, v float64) []float64 {
		s := u*u + v*v
		return []float64{(1 + s) / (2 * v), (1 - s) / (2 * v), u / v}
	}
	rng := random(2, 31)
	for range 100 {
		u, v, a, b := rng.NormFloat64(), math.Exp(rng.NormFloat64()), rng.NormFloat64(), math.Exp(rng.NormFloat64())
		want := 2 * math.Atanh(math.Hypot(u-a, v-b)/math.Hypot(u-a, v+b))
		d, err := m.Distance(lorentz(u, v), lorentz(a, b))
		require.NoError(t, err)
		assert.InDelta(t, want, d, 1e-13*(1+want))
	}
	for _, c := range [][2][]float64{
		{{1e8, 1e8}, {1e8, 1e8 + 1}}, {{1e10, 0}, {-1e10, 1}}, {{1e12, 3}, {1e12, 3.5}}, {{1e150, 1}, {1, 1e150}},
		{{3, 4}, {3, 4 + 1e-12}}, {{0, 0}, {1e-200, 0}}, {{0, 0}, {0, 0}},
		{{1e300, 1}, {1e300, -1e299}}, {{-1e200, 0}, {1e200, 0}}, {{1e-300, 0}, {1e300, 0}},
	} {
		x, y := append([]float64{0}, c[0]...), append([]float64{0}, c[1]...)
		require.NoError(t, m.Restore(x))
		require.NoError(t, m.Restore(y))
		d, err := m.Distance(x, y)
		require.NoError(t, err)
		assert.InEpsilon(t, 1+exactHyperbolic(c[0], c[1]), 1+d, 1e-13, "%v", c)
	}
	assert.Error(t, m.Retract(make([]float64, 3), []float64{1, 0, 0}, []float64{0, 1e4, 0}))
}

// exactHyperbolic is the distance of points given without their first coordinate.
func exactHyperbolic(x, y []float64) float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(v) }
	zero := func() *big.Float { return number(0) }
	lift := func(x []float64) *big.Float {
		s := number(1)
		for _, v := range x {
			s.Add(s, zero().Mul(number(v), number(v)))
		}
		return s.Sqrt(s)
	}
	cosh := zero().Mul(lift(x), lift(y))
	for i := range x {
		cosh.Sub(cosh, zero().Mul(number(x[i]), number(y[i])))
	}
	// d = 2 arsinh(sqrt((cosh d - 1) / 2))
	half := zero().Quo(zero().Sub(cosh, number(1)), number(2))
	root, _ := half.Sqrt(half).Float64()
	return 2 * math.Asinh(root)
}

// TestProducts: rigid motions, with the distance of both parts.
func TestProducts(t *testing.T) {
	rotations := manifolds.NewRotations(3)
	poses := manifolds.NewProduct(
		framework.Block{Name: "R", Manifold: rotations},
		framework.Block{Name: "t", Manifold: manifolds.Euclidean(3)})
	assert.Equal(t, "product R: rotations 3, t: euclidean 3", poses.String())
	assert.Equal(t, []int{12, 6, 2}, []int{poses.Size(), poses.Dim(), poses.RetractionOrder()})
	list := map[string]framework.Manifold{
		"poses": poses,
		"powers and a metric": manifolds.NewProduct(
			framework.Block{Name: "spheres", Manifold: manifolds.Sphere(3), Copies: 4},
			framework.Block{Name: "shape", Manifold: manifolds.NewSPD(2)},
			framework.Block{Name: "tree", Manifold: manifolds.Hyperbolic(2), Copies: 2}),
		"a product of products": manifolds.NewProduct(
			framework.Block{Name: "poses", Manifold: poses, Copies: 2},
			framework.Block{Name: "scale", Manifold: manifolds.NewSPD(1)}),
	}
	for name, m := range list {
		frameworktest.TestManifold(t, name, m, 1)
		assert.Implements(t, (*framework.Distance)(nil), m)
	}
	assert.NotImplements(t, (*framework.Metric)(nil), poses)
	assert.Implements(t, (*framework.Metric)(nil), list["powers and a metric"])

	// A factor without logarithm takes it from the whole, not the rest.
	frames := manifolds.NewProduct(
		framework.Block{Name: "frame", Manifold: plain{manifolds.NewStiefel(4, 2)}},
		framework.Block{Name: "shape", Manifold: manifolds.NewSPD(2)})
	assert.NotImplements(t, (*framework.Exper)(nil), frames)
	assert.Equal(t, 1, frames.RetractionOrder())
	x := make([]float64, frames.Size())
	manifolds.NewStiefel(4, 2).Rand(frames.Part(x, "frame"), random(8, 32))
	manifolds.NewSPD(2).Rand(frames.Part(x, "shape"), random(8, 33))
	frameworktest.TestManifold(t, "frames and shapes", frames, 1, x)

	frames.Part(x, "shape")[0] = -1
	assert.ErrorContains(t, frames.Restore(x), "restoring: block shape: manifolds: spd 2")
	assert.Panics(t, func() { frames.Part(x, "nothing") })
	assert.Panics(t, func() { manifolds.NewProduct(framework.Block{Manifold: poses}) })
	assert.Panics(t, func() {
		manifolds.NewProduct(framework.Block{Name: "plane", Manifold: manifolds.NewGrassmann(3, 2)})
	})
}

// plain hides what a manifold offers beyond framework.Manifold.
type plain struct{ framework.Manifold }

// TestProductOfBlocks: the operations of a problem's whole domain.
func TestProductOfBlocks(t *testing.T) {
	spd := manifolds.NewSPD(2)
	m := framework.Product{
		{Name: "directions", Manifold: manifolds.Sphere(3), Copies: 2},
		{Name: "shape", Manifold: spd},
	}
	rng := rand.New(rand.NewPCG(34, 0))
	x, y, v := framework.NewPoint(m), framework.NewPoint(m), framework.NewPoint(m)
	require.NoError(t, m.Rand(x, rng))
	require.NoError(t, m.Rand(y, rng))
	require.NoError(t, m.Log(v, x, y))
	d, err := m.Distance(x, y)
	require.NoError(t, err)
	assert.InDelta(t, d, m.Norm(x, v), 1e-13)
	assert.InDelta(t, d*d, m.Inner(x, v, v), 1e-12)
	require.NoError(t, m.Exp(x, x, v))
	x.AddScaled(-1, y)
	assert.Less(t, x.Norm(), 1e-13)
	assert.Equal(t, []int{10, 7}, []int{m.Size(), m.Dim()})

	x.CopyFrom(y)
	x.Scale(2)
	assert.InDelta(t, 2*y.Norm()*y.Norm(), x.Dot(y), 1e-13)
	x.Zero()
	assert.Zero(t, x.Norm())

	lacking := framework.Product{{Name: "frame", Manifold: manifolds.NewFixedRank(3, 3, 2)}}
	z := framework.NewPoint(lacking)
	err = lacking.Log(z, z, z)
	assert.ErrorContains(t, err, "block frame: framework: *manifolds.FixedRank has no logarithm")
}

// What SPD keeps of one call changes no bit of another.
func TestSPDKeepsWhatItSaw(t *testing.T) {
	const n = 4
	m, rng := manifolds.NewSPD(n), random(15, 40)
	points := make([][]float64, 3)
	for k := range points {
		points[k] = make([]float64, n*n)
		m.Rand(points[k], rng)
	}
	v, got, want := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for range 200 {
		x, y := points[rng.IntN(3)], points[rng.IntN(3)]
		m.Project(v, x, points[rng.IntN(3)])
		fresh := manifolds.NewSPD(n)
		switch rng.IntN(3) {
		case 0:
			m.Transport(got, x, y, v)
			fresh.Transport(want, x, y, v)
		case 1:
			require.NoError(t, m.Retract(got, x, v))
			require.NoError(t, fresh.Retract(want, x, v))
		case 2:
			got[0], want[0] = m.Inner(x, v, v), fresh.Inner(x, v, v)
		}
		require.Equal(t, want, got)
		if rng.IntN(4) == 0 {
			points[rng.IntN(3)][0] += 0.1 // another point in the same place
		}
	}
}

// TestSPDRefusesSingularResults: the least eigenvalue of what a long step leads to is rounding, of either sign.
func TestSPDRefusesSingularResults(t *testing.T) {
	m := manifolds.NewSPD(2)
	cos, sin := math.Cos(.3), math.Sin(.3)
	y := make([]float64, 4)
	for _, long := range []float64{1e3, 1e5, 1e7, 3e8, 1e9} {
		v := []float64{ // of the eigenvalues -1 and long
			-cos*cos + long*sin*sin, -cos*sin - long*cos*sin,
			-cos*sin - long*cos*sin, -sin*sin + long*cos*cos,
		}
		err := m.Retract(y, []float64{1, 0, 0, 1}, v)
		if long > 1e7 {
			require.ErrorContains(t, err, "manifolds: spd 2: retraction: the result is singular to working precision")
		} else if err == nil { // at 1e7, the quotient of the eigenvalues is 1e-14
			assert.Zero(t, m.Violation(y))
			assert.Positive(t, y[0]*y[3]-y[1]*y[2])
		}
	}
	singular := []float64{1 + 4.5e16*sin*sin, -4.5e16 * cos * sin, -4.5e16 * cos * sin, 1 + 4.5e16*cos*cos}
	assert.Equal(t, math.Inf(1), m.Violation(singular))
	assert.Error(t, m.Restore(singular))
}

// TestOffTheManifold: distances and logarithms of blocks refuse what is no point.
func TestOffTheManifold(t *testing.T) {
	for _, c := range []struct {
		m    framework.Manifold
		x, y []float64
	}{
		{manifolds.Sphere(3), []float64{1, 0, 0}, []float64{2, 0, 0}},
		{manifolds.NewSPD(2), []float64{1, 0, 0, 1}, []float64{1, .5, 0, 1}},
		{manifolds.NewStiefel(2, 1), []float64{1, 1}, []float64{1, 0}},
	} {
		b := framework.Block{Manifold: c.m}
		_, err := b.Distance(c.x, c.y)
		require.ErrorIs(t, err, framework.ErrInvalid)
		require.ErrorContains(t, err, "is off the manifold")
		require.ErrorIs(t, b.Log(make([]float64, len(c.x)), c.x, c.y), framework.ErrInvalid)
	}
	assert.ErrorContains(t, manifolds.NewRotations(3).Restore(make([]float64, 9)), "no rotation is nearer")
	assert.NoError(t, manifolds.NewRotations(3).Restore([]float64{2, 0, 0, 0, 1, 0, 0, 0, 0}))
}
