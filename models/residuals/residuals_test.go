package residuals_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/mean"
	"github.com/scqm/scqm/models/residuals"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/solvers"
)

// points draws n points of a manifold.
func points(m framework.Manifold, n int, rng *rand.Rand) rows.Data {
	x := rows.Data{N: n, D: m.Size(), X: make([]float64, n*m.Size())}
	for i := range n {
		m.(framework.Rander).Rand(x.Row(i), rng)
	}
	return x
}

// near draws a point a geodesic of about the given length from x.
func near(t testing.TB, m framework.Manifold, x []float64, length float64, rng *rand.Rand) []float64 {
	b := framework.Block{Manifold: m}
	v, y := make([]float64, len(x)), make([]float64, len(x))
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	b.Project(v, x, v)
	norm := b.Norm(x, v)
	for i := range v {
		v[i] *= length / norm
	}
	require.NoError(t, m.(framework.Exper).Exp(y, x, v))
	return y
}

func random(n int, rng *rand.Rand) rows.Data {
	x := rows.Data{N: n, D: 5, X: make([]float64, 5*n)}
	for i := range x.X {
		x.X[i] = rng.NormFloat64()
	}
	return x
}

func distances(t testing.TB, m framework.Manifold, n int, rng *rand.Rand) *residuals.Distances {
	d, err := residuals.NewDistances(m, points(m, n, rng))
	require.NoError(t, err)
	return d
}

func TestLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	product := manifolds.NewProduct(
		framework.Block{Name: "u", Manifold: manifolds.Sphere(3)}, framework.Block{Name: "S", Manifold: manifolds.NewSPD(2)})
	functions := map[string]residuals.Function{
		"sphere":     distances(t, manifolds.Sphere(4), 40, rng),
		"spd":        distances(t, manifolds.NewSPD(3), 40, rng),
		"rotations":  distances(t, manifolds.NewRotations(3), 40, rng),
		"grassmann":  distances(t, manifolds.NewGrassmann(4, 2), 5, rng),
		"hyperbolic": distances(t, manifolds.Hyperbolic(3), 5, rng),
		"product":    distances(t, product, 5, rng),
	}
	functions["graph"], _ = measure(t, points(manifolds.NewRotations(3), 4, rng).X, 40, 0.5, rng)
	for name, f := range functions {
		n, m := f.Shape()
		weights := make([]float64, n)
		for i := range weights {
			weights[i] = float64(i % 3)
		}
		precision := mat.NewDiagDense(m, nil)
		for k := range m {
			precision.SetDiag(k, 1+float64(k))
		}
		mahalanobis, err := losses.Mahalanobis(precision)
		require.NoError(t, err)
		huber, err := losses.Huber(0.5)
		require.NoError(t, err)
		for _, loss := range []framework.Loss{losses.SquaredL2(), losses.L2(), huber, mahalanobis, blackBox{}} {
			p, err := residuals.New(context.Background(), f, loss, weights, 1)
			require.NoError(t, err)
			frameworktest.TestProblem(t, name+", "+loss.Name(), p, frameworktest.ProblemOptions{Seed: 3})
		}
	}
}

// TestLawsNearby is TestLaws where x is next to the points, so that series are in place
// of formulas.
func TestLawsNearby(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, m := range []framework.Manifold{manifolds.Sphere(4), manifolds.NewSPD(3), manifolds.NewRotations(3)} {
		for _, away := range []float64{1e-3, 0.05} {
			one := points(m, 1, rng)
			x := framework.Point{near(t, m, one.Row(0), away, rng)}
			d, err := residuals.NewDistances(m, one)
			require.NoError(t, err)
			for i, loss := range []framework.Loss{losses.SquaredL2(), lopsided{}} {
				p, err := residuals.New(context.Background(), d, loss, nil, 1)
				require.NoError(t, err)
				frameworktest.TestProblem(t, fmt.Sprintf("%T %g, loss %d", m, away, i), p, frameworktest.ProblemOptions{Seed: 3, Point: x})
			}
		}
	}
}

// lopsided is the loss sum_k (k+1) exp(r_k), whose gradient is not along r.
type lopsided struct{}

func (lopsided) Name() string { return "lopsided" }

func (lopsided) Evaluate(values, grad, r []float64, dim int) error {
	for i := 0; i < len(r); i += dim {
		sum := 0.0
		for k := i; k < i+dim; k++ {
			e := float64(k-i+1) * math.Exp(r[k])
			sum += e
			if grad != nil {
				grad[k] = e
			}
		}
		if values != nil {
			values[i/dim] = sum
		}
	}
	return nil
}

// blackBox is sum_k log cosh r_k, of which nothing but gradients is known.
type blackBox struct{}

func (blackBox) Name() string { return "log_cosh" }

func (blackBox) Evaluate(values, grad, r []float64, dim int) error {
	for i := 0; i < len(r); i += dim {
		sum := 0.0
		for k := i; k < i+dim; k++ {
			sum += math.Log(math.Cosh(r[k]))
			if grad != nil {
				grad[k] = math.Tanh(r[k])
			}
		}
		if values != nil {
			values[i/dim] = sum
		}
	}
	return nil
}

func fit(t testing.TB, f residuals.Function, start framework.Point, loss framework.Loss) *residuals.Result {
	r, err := residuals.Fit(context.Background(), f, start, residuals.Config{Loss: loss})
	require.NoError(t, err)
	return r
}

// rotations draws n rotations, the first outliers of them anywhere and the others the
// truth, up to noise in radians.
func rotations(t testing.TB, truth []float64, n, outliers int, noise float64, rng *rand.Rand) rows.Data {
	m := manifolds.NewRotations(3)
	x := points(m, n, rng)
	for i := outliers; i < n; i++ {
		copy(x.Row(i), truth)
		if noise > 0 {
			copy(x.Row(i), near(t, m, truth, noise*math.Sqrt2, rng))
		}
	}
	return x
}

// TestMedianOfRotations recovers a rotation exactly although 30 % of its measurements
// are anything, which the mean is far from.
func TestMedianOfRotations(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	m := manifolds.NewRotations(3)
	truth := make([]float64, 9)
	for range 2 {
		m.Rand(truth, rng)
		d, err := residuals.NewDistances(m, rotations(t, truth, 100, 30, 0, rng))
		require.NoError(t, err)
		start := make([]float64, 9)
		copy(start, near(t, m, truth, 1, rng))
		median := fit(t, d, framework.Point{start}, losses.L2())
		assert.Equal(t, framework.Converged, median.Run.Status, median.Run.Message)
		off, err := m.Distance(median.Point[0], truth)
		require.NoError(t, err)
		assert.Less(t, off, 1e-8)
		mean := fit(t, d, framework.Point{start}, losses.SquaredL2())
		assert.Equal(t, framework.Converged, mean.Run.Status, mean.Run.Message)
		off, err = m.Distance(mean.Point[0], truth)
		require.NoError(t, err)
		assert.Greater(t, off, 1e-2)
	}
}

// TestMeanOfTwoMatrices compares with the closed form of the geometric mean
// X^{1/2} (X^{-1/2} Y X^{-1/2})^{1/2} X^{1/2}: the middle of the geodesic.
func TestMeanOfTwoMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, order := range []int{1, 2, 5} {
		m := manifolds.NewSPD(order)
		two := points(m, 2, rng)
		d, err := residuals.NewDistances(m, two)
		require.NoError(t, err)
		start, err := d.Start()
		require.NoError(t, err)
		r := fit(t, d, start, losses.SquaredL2())
		assert.Equal(t, framework.Converged, r.Run.Status, r.Run.Message)
		v, want := make([]float64, m.Size()), make([]float64, m.Size())
		require.NoError(t, m.Log(v, two.Row(0), two.Row(1)))
		for i := range v {
			v[i] /= 2
		}
		require.NoError(t, m.Exp(want, two.Row(0), v))
		off, err := m.Distance(r.Point[0], want)
		require.NoError(t, err)
		assert.Less(t, off, 1e-7)
		whole, err := m.Distance(two.Row(0), two.Row(1))
		require.NoError(t, err)
		assert.InDeltaSlice(t, []float64{whole / 2, whole / 2}, r.Norms, 1e-7)
	}
}

// TestCommutingMatrices compares mean and median of diagonal matrices with those of the
// logarithms of their entries.
func TestCommutingMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 8))
	const n = 15
	logs, x := rows.Data{N: n, D: 2, X: make([]float64, 2*n)}, rows.Data{N: n, D: 4, X: make([]float64, 4*n)}
	for i := range n {
		a, b := rng.NormFloat64(), 3*rng.NormFloat64()
		copy(logs.Row(i), []float64{a, b})
		copy(x.Row(i), []float64{math.Exp(a), 0, 0, math.Exp(b)})
	}
	d, err := residuals.NewDistances(manifolds.NewSPD(2), x)
	require.NoError(t, err)
	start, err := d.Start()
	require.NoError(t, err)
	for _, loss := range []framework.Loss{losses.SquaredL2(), losses.L2()} {
		r := fit(t, d, start, loss)
		assert.Equal(t, framework.Converged, r.Run.Status, r.Run.Message)
		want, err := mean.Of(context.Background(), logs, mean.Config{Loss: loss})
		require.NoError(t, err)
		assert.InDelta(t, want.C[0], math.Log(r.Point[0][0]), 1e-6, loss.Name())
		assert.InDelta(t, want.C[1], math.Log(r.Point[0][3]), 1e-6, loss.Name())
	}
}

// TestSymmetricPoints has points of the sphere around a pole, whose mean and median are
// the pole, and the median alone stays near it where a tenth are far away.
func TestSymmetricPoints(t *testing.T) {
	const n = 12
	x := rows.Data{N: n, D: 3, X: make([]float64, 3*n)}
	for i := range n {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / n)
		far := 0.3 + 0.6*float64(i%2)
		copy(x.Row(i), []float64{cos * math.Sin(far), sin * math.Sin(far), math.Cos(far)})
	}
	d, err := residuals.NewDistances(manifolds.Sphere(3), x)
	require.NoError(t, err)
	start, err := d.Start()
	require.NoError(t, err)
	huber, err := losses.Huber(0.1)
	require.NoError(t, err)
	for _, loss := range []framework.Loss{losses.SquaredL2(), losses.L2(), huber, blackBox{}} {
		r := fit(t, d, start, loss)
		assert.Equal(t, framework.Converged, r.Run.Status, r.Run.Message)
		assert.InDeltaSlice(t, []float64{0, 0, 1}, r.Point[0], 1e-6, loss.Name())
	}
}

// TestExactRows has nothing but rows that fit: the cost vanishes, and so does the
// stationarity although losses have kinks there.
func TestExactRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 8))
	truth := points(manifolds.NewRotations(3), 5, rng).X
	g, start := measure(t, truth, 20, 0, rng)
	for _, loss := range []framework.Loss{losses.L1(), losses.L2(), losses.SquaredL2()} {
		r := fit(t, g, start, loss)
		assert.Equal(t, framework.Converged, r.Run.Status, "%s: %s", loss.Name(), r.Run.Message)
		assert.Less(t, r.Objective, 1e-6, loss.Name())
		r = fit(t, g, framework.Point{truth}, loss) // which fits but for rounding
		assert.Equal(t, framework.Converged, r.Run.Status, "%s: %s", loss.Name(), r.Run.Message)
		assert.Less(t, r.Objective, 1e-12, loss.Name())
	}
}

// withoutDerivatives hides the products of a function with its Jacobian.
type withoutDerivatives struct{ residuals.Function }

// TestDifferences finds what known derivatives find, by the Gauss-Newton model.
func TestDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 8))
	m := manifolds.NewSPD(2)
	x := points(m, 20, rng)
	d, err := residuals.NewDistances(m, x)
	require.NoError(t, err)
	start, err := d.Start()
	require.NoError(t, err)
	huber, err := losses.Huber(0.5)
	require.NoError(t, err)
	for _, loss := range []framework.Loss{huber, losses.SquaredL2(), blackBox{}} {
		want := fit(t, d, start, loss)
		got := fit(t, withoutDerivatives{d.Function}, start, loss)
		assert.Equal(t, framework.Converged, want.Run.Status, want.Run.Message)
		assert.Equal(t, framework.Converged, got.Run.Status, got.Run.Message)
		off, err := m.Distance(want.Point[0], got.Point[0])
		require.NoError(t, err)
		assert.Less(t, off, 1e-6, loss.Name())
		reweighted, err := residuals.Fit(context.Background(), d, start,
			residuals.Config{Loss: loss, Solver: solvers.TrustRegion{GaussNewton: true}})
		require.NoError(t, err)
		assert.Equal(t, framework.Converged, reweighted.Run.Status, reweighted.Run.Message)
		assert.InDelta(t, want.Objective, reweighted.Objective, 1e-9)
		assert.Positive(t, got.Run.Counts.Hessians)
	}
}

// TestThreads wants equal bits for any number of threads.
func TestThreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 8))
	g, start := measure(t, points(manifolds.NewRotations(3), 5, rng).X, 120, 0.2, rng)
	var want *residuals.Result
	for _, threads := range []int{1, 2, 5} {
		r, err := residuals.Fit(context.Background(), g, start, residuals.Config{Loss: losses.L2(), Threads: threads})
		require.NoError(t, err)
		if want == nil {
			want = r
		}
		assert.True(t, want.Point.Equal(r.Point))
		assert.Equal(t, want.Objective, r.Objective)
		assert.Equal(t, want.Run.Counts, r.Run.Counts)
	}
}

// broken has a row that is not a number.
type broken struct{ residuals.Function }

func (b broken) Residuals(dst []float64, x framework.Point, from, to int) error {
	err := b.Function.Residuals(dst, x, from, to)
	if from <= 4 && 4 < to {
		_, m := b.Shape()
		dst[(4-from)*m+1] = math.NaN()
	}
	return err
}

func TestRefusals(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 8))
	m := manifolds.Sphere(3)
	for name, c := range map[string]struct {
		spoil func(x *rows.Data)
		says  string
	}{
		"NaN":      {func(x *rows.Data) { x.X[7] = math.NaN() }, "row 2, column 1 is NaN"},
		"missing":  {func(x *rows.Data) { x.X[7], x.Missing = math.NaN(), true }, "row 2, column 1 is NaN"},
		"off":      {func(x *rows.Data) { x.X[7] += 0.5 }, "row 2 is off the manifold"},
		"shape":    {func(x *rows.Data) { x.D, x.N = 5, 6 }, "rows have 5 entries"},
		"weighted": {func(x *rows.Data) { x.Weights = make([]float64, 10) }, "weights of rows belong to the configuration"},
	} {
		x := points(m, 10, rng)
		c.spoil(&x)
		_, err := residuals.NewDistances(m, x)
		assert.ErrorIs(t, err, rows.ErrInput, name)
		assert.ErrorContains(t, err, c.says, name)
	}
	_, err := residuals.NewDistances(manifolds.NewFixedRank(3, 2, 1), points(manifolds.NewFixedRank(3, 2, 1), 3, rng))
	assert.ErrorContains(t, err, "has no logarithms")

	d := distances(t, m, 10, rng)
	start, err := d.Start()
	require.NoError(t, err)
	for says, c := range map[string]residuals.Config{
		"a function and a loss are needed": {},
		"3 weights for 10 rows":            {Loss: losses.L2(), Weights: []float64{1, 1, 1}},
		"weight of row 1 is -1":            {Loss: losses.L2(), Weights: []float64{1, -1, 1, 1, 1, 1, 1, 1, 1, 1}},
		"all weights are 0":                {Loss: losses.L2(), Weights: make([]float64, 10)},
	} {
		_, err := residuals.Fit(context.Background(), d, start, c)
		assert.ErrorIs(t, err, rows.ErrInput)
		assert.ErrorContains(t, err, says)
	}
	_, err = residuals.Fit(context.Background(), broken{d}, start, residuals.Config{Loss: losses.L2()})
	assert.ErrorIs(t, err, rows.ErrInput)
	assert.ErrorContains(t, err, "row 4, entry 1 is NaN at the start")
}

// TestCancelled keeps what was found when the context ends.
func TestCancelled(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 8))
	d := distances(t, manifolds.NewSPD(3), 20, rng)
	start, err := d.Start()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := residuals.Fit(ctx, d, start, residuals.Config{Loss: losses.L2(), Options: framework.Options{
		Observers: []func(framework.Record){func(p framework.Record) {
			if p.Iteration == 3 {
				cancel()
			}
		}},
	}})
	require.NoError(t, err)
	assert.Equal(t, framework.Cancelled, r.Run.Status)
	assert.True(t, r.Point.Finite())
}

// TestStationarity measures what is no minimum as such, on kinks and off them, whatever
// the unit, and what is one as none.
func TestStationarity(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 8))
	for _, unit := range []float64{1, 1e-6, 1e6} {
		x := random(30, rng)
		for i := range x.X {
			x.X[i] *= unit
		}
		d, err := residuals.NewDistances(manifolds.Euclidean(5), x)
		require.NoError(t, err)
		p, err := residuals.New(context.Background(), d, losses.L2(), nil, 1)
		require.NoError(t, err)
		s := []float64{-1}
		measure := func(at []float64) float64 {
			require.NoError(t, p.(framework.Certifier).Stationarity(s, framework.Point{at}))
			return s[0]
		}
		worst := 0
		for i := range x.N {
			if rows.LengthScale(x)*math.Sqrt2 < lengthOf(x.Row(i)) {
				worst = i
			}
		}
		rounded := p.(framework.Smoothable)
		for _, eps := range []float64{0, unit / 8, 1e-7 * unit} {
			rounded.Smooth(eps)
			rounded.Smooth(0)
			assert.Greater(t, measure(x.Row(worst)), 0.1, "unit %g, rounded over %g", unit, eps)
		}
		fit := fit(t, d, framework.Point{x.Row(0)}, losses.L2())
		assert.Equal(t, framework.Converged, fit.Run.Status, "%g: %s", unit, fit.Run.Message)
		assert.Less(t, fit.Run.Stationarity[0], 1e-6)
	}
}

func lengthOf(row []float64) float64 {
	var sum float64
	for _, v := range row {
		sum += v * v
	}
	return math.Sqrt(sum)
}
