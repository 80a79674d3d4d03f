package residuals_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

func graph(t testing.TB, k, n int, metric residuals.RotationMetric, rng *rand.Rand) *residuals.RotationGraph {
	m := manifolds.NewRotations(3)
	var edges []residuals.RelativeRotation
	for i := range n {
		r := make([]float64, 9)
		m.Rand(r, rng)
		from := i%k - 1
		to := (i + 1 + i/k) % k
		if from == to {
			to = (to + 1) % k
		}
		edges = append(edges, residuals.RelativeRotation{From: from, To: to, R: r})
	}
	g, err := residuals.NewRotationGraph(k, edges, metric)
	require.NoError(t, err)
	return g
}

func distances(t testing.TB, m framework.Manifold, n int, rng *rand.Rand) *residuals.Distances {
	d, err := residuals.NewDistances(m, points(m, n, rng))
	require.NoError(t, err)
	return d
}

func TestLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	space, err := residuals.NewSubspace(random(40, rng), 2)
	require.NoError(t, err)
	product := manifolds.NewProduct(
		framework.Block{Name: "u", Manifold: manifolds.Sphere(3)}, framework.Block{Name: "S", Manifold: manifolds.NewSPD(2)})
	functions := map[string]residuals.Function{
		"sphere":     distances(t, manifolds.Sphere(4), 40, rng),
		"spd":        distances(t, manifolds.NewSPD(3), 40, rng),
		"rotations":  distances(t, manifolds.NewRotations(3), 40, rng),
		"grassmann":  distances(t, manifolds.NewGrassmann(4, 2), 5, rng),
		"hyperbolic": distances(t, manifolds.Hyperbolic(3), 5, rng),
		"product":    distances(t, product, 5, rng),
		"chordal":    graph(t, 4, 40, residuals.Chordal, rng),
		"geodesic":   graph(t, 4, 40, residuals.Geodesic, rng),
		"subspace":   space,
	}
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

// subspaceRows has n rows of length D, the first outliers of them anything of the size
// given, the others of a subspace.
func subspaceRows(n, outliers, d int, truth []float64, size float64, rng *rand.Rand) rows.Data {
	D := len(truth) / d
	x := rows.Data{N: n, D: D, X: make([]float64, n*D)}
	for i := range n {
		for k := 0; i >= outliers && k < d; k++ {
			c := rng.NormFloat64()
			for j := range D {
				x.Row(i)[j] += c * truth[j*d+k]
			}
		}
		for j := 0; i < outliers && j < D; j++ {
			x.Row(i)[j] = size * rng.NormFloat64()
		}
	}
	return x
}

// TestRobustSubspace recovers the subspace of the inliers exactly although 30 % of the
// rows are anything, of up to five times the length. Of much longer ones the least sum of
// distances is elsewhere, and goes through some of them: fits end there too.
func TestRobustSubspace(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	const n, D, d = 100, 8, 3
	m := manifolds.NewGrassmann(D, d)
	truth := make([]float64, D*d)
	m.Rand(truth, rng)
	for _, c := range []struct {
		loss framework.Loss
		size float64
		near bool
	}{{losses.L2(), 10, false}, {losses.L2(), 3, true}, {losses.SquaredL2(), 3, false}} {
		s, err := residuals.NewSubspace(subspaceRows(n, 30, d, truth, c.size, rng), d)
		require.NoError(t, err)
		r := fit(t, s, s.Start(), c.loss)
		assert.Equal(t, framework.Converged, r.Run.Status, r.Run.Message)
		off, err := m.Distance(r.Point[0], truth)
		require.NoError(t, err)
		assert.Equal(t, c.near, off < 1e-7, "%s is %g away with outliers of size %g", c.loss.Name(), off, c.size)
	}
}

// measure makes measurements of a ring of rotations with chords, of which a fraction is
// wrong.
func measure(truth []float64, n int, wrong float64, rng *rand.Rand) []residuals.RelativeRotation {
	m := manifolds.NewRotations(3)
	k := len(truth) / 9
	var edges []residuals.RelativeRotation
	for i := range n {
		from, to := i%k, (i%k+1+i/k%(k-1))%k
		r := make([]float64, 9)
		if rng.Float64() < wrong {
			m.Rand(r, rng)
		} else {
			a, b := truth[9*from:9*from+9], truth[9*to:9*to+9]
			for j := range 3 {
				for l := range 3 {
					for q := range 3 {
						r[3*j+l] += a[3*q+j] * b[3*q+l]
					}
				}
			}
		}
		edges = append(edges, residuals.RelativeRotation{From: from, To: to, R: r})
	}
	return edges
}

// TestRotationAveraging recovers 10 rotations, up to one that stays free, from relative
// ones of which a quarter is wrong.
func TestRotationAveraging(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 8))
	const k = 10
	truth := points(manifolds.NewRotations(3), k, rng).X
	edges := measure(truth, 8*k, 0.25, rng)
	for _, metric := range []residuals.RotationMetric{residuals.Chordal, residuals.Geodesic} {
		g, err := residuals.NewRotationGraph(k, edges, metric)
		require.NoError(t, err)
		r := fit(t, g, g.Start(), losses.L2())
		assert.Equal(t, framework.Converged, r.Run.Status, r.Run.Message)
		want, got := make([]float64, len(edges)), make([]float64, len(edges))
		require.NoError(t, g.Angles(want, framework.Point{truth}))
		require.NoError(t, g.Angles(got, r.Point))
		assert.InDeltaSlice(t, want, got, 1e-7)
	}
}

// TestExactRows has nothing but rows that fit: the cost vanishes, and so does the
// stationarity although losses have kinks there.
func TestExactRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 8))
	truth := points(manifolds.NewRotations(3), 5, rng).X
	for _, metric := range []residuals.RotationMetric{residuals.Chordal, residuals.Geodesic} {
		g, err := residuals.NewRotationGraph(5, measure(truth, 20, 0, rng), metric)
		require.NoError(t, err)
		start := points(manifolds.NewRotations(3), 5, rng).X
		for i := range 5 {
			copy(start[9*i:], near(t, manifolds.NewRotations(3), truth[9*i:9*i+9], 0.3, rng))
		}
		for _, loss := range []framework.Loss{losses.L1(), losses.L2(), losses.SquaredL2()} {
			r := fit(t, g, framework.Point{start}, loss)
			assert.Equal(t, framework.Converged, r.Run.Status, "%s: %s", loss.Name(), r.Run.Message)
			assert.Less(t, r.Objective, 1e-6, loss.Name())
			r = fit(t, g, g.Start(), loss) // which fits but for rounding
			assert.Equal(t, framework.Converged, r.Run.Status, "%s: %s", loss.Name(), r.Run.Message)
			assert.Less(t, r.Objective, 1e-13, loss.Name())
		}
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
	const k = 5
	g, err := residuals.NewRotationGraph(k, measure(points(manifolds.NewRotations(3), k, rng).X, 120, 0.2, rng), residuals.Geodesic)
	require.NoError(t, err)
	var want *residuals.Result
	for _, threads := range []int{1, 2, 5} {
		r, err := residuals.Fit(context.Background(), g, g.Start(), residuals.Config{Loss: losses.L2(), Threads: threads})
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

	edges := measure(points(manifolds.NewRotations(3), 4, rng).X, 8, 0, rng)
	for says, spoil := range map[string]func(e []residuals.RelativeRotation){
		"row 3 measures from 3 to 9":        func(e []residuals.RelativeRotation) { e[3].To = 9 },
		"row 3 measures from 3 to 3":        func(e []residuals.RelativeRotation) { e[3].To = 3 },
		"row 5 is off the rotations by":     func(e []residuals.RelativeRotation) { e[5].R = make([]float64, 9) },
		"row 6 has a rotation of 2 entries": func(e []residuals.RelativeRotation) { e[6].R = []float64{1, 2} },
	} {
		list := slices.Clone(edges)
		spoil(list)
		_, err := residuals.NewRotationGraph(4, list, residuals.Chordal)
		assert.ErrorIs(t, err, rows.ErrInput)
		assert.ErrorContains(t, err, says)
	}
	_, err = residuals.NewRotationGraph(5, edges, residuals.Chordal)
	assert.ErrorContains(t, err, "no measurements connect rotation 4")
	_, err = residuals.NewSubspace(random(10, rng), 5)
	assert.ErrorContains(t, err, "a subspace of dimension 5 of 5 columns")
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
