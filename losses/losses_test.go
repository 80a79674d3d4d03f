package losses_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/losses"
)

func lp(t testing.TB, p float64) framework.Loss {
	t.Helper()
	l, err := losses.Lp(p)
	require.NoError(t, err)
	return l
}

func huber(t testing.TB, delta float64) framework.Loss {
	t.Helper()
	l, err := losses.Huber(delta)
	require.NoError(t, err)
	return l
}

// redescending lists the losses that are not convex, with a width.
func redescending(t testing.TB, delta float64) map[string]framework.Loss {
	t.Helper()
	list := map[string]framework.Loss{}
	for _, name := range []string{"tukey", "cauchy", "welsch", "geman_mcclure"} {
		l, err := losses.ByName(name, losses.Params{Delta: &delta})
		require.NoError(t, err)
		list[name] = l
	}
	return list
}

func quantile(t testing.TB, p float64) framework.Loss {
	t.Helper()
	l, err := losses.Quantile(p)
	require.NoError(t, err)
	return l
}

func mahalanobis(t testing.TB, m mat.Matrix) framework.Loss {
	t.Helper()
	l, err := losses.Mahalanobis(m)
	require.NoError(t, err)
	return l
}

// precision returns a random positive definite matrix.
func precision(dim int) *mat.SymDense {
	rng := rand.New(rand.NewPCG(uint64(dim), 1))
	a := mat.NewDense(dim, dim, nil)
	for i := range a.RawMatrix().Data {
		a.RawMatrix().Data[i] = rng.NormFloat64()
	}
	m := mat.NewSymDense(dim, nil)
	m.SymOuterK(1, a)
	for k := range dim {
		m.SetSym(k, k, m.At(k, k)+1)
	}
	return m
}

// gauss returns n random numbers of the given size.
func gauss(n int, size float64) []float64 {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	r := make([]float64, n)
	for k := range r {
		r[k] = size * rng.NormFloat64()
	}
	return r
}

// evaluate returns values and gradients.
func evaluate(t testing.TB, l framework.Loss, r []float64, dim int) (values, grad []float64) {
	t.Helper()
	values, grad = make([]float64, len(r)/dim), make([]float64, len(r))
	require.NoError(t, l.Evaluate(values, grad, r, dim))
	return values, grad
}

func hessian(t testing.TB, l framework.Loss, r, v []float64, dim int) []float64 {
	t.Helper()
	product := make([]float64, len(r))
	require.NoError(t, l.(framework.SecondOrder).HessianProduct(product, r, v, dim))
	return product
}

func weights(t testing.TB, l framework.Loss, r []float64, dim int) []float64 {
	t.Helper()
	w := make([]float64, len(r))
	if rowloss.StructureOf(l) == rowloss.StructureRadial {
		w = w[:len(r)/dim]
	}
	require.NoError(t, l.(framework.Majorizer).Weights(w, r, dim))
	return w
}

// sample is a loss with what is known of it.
type sample struct {
	loss framework.Loss
	// order says how the loss looks away from kinks: 0 piecewise linear,
	// 2 piecewise quadratic, 3 neither.
	order           int
	kinked, bounded bool
}

// builtIn lists every loss for rows of a length.
func builtIn(t testing.TB, dim int) map[string]sample {
	list := map[string]sample{
		"l1":          {losses.L1(), 0, true, true},
		"l2":          {losses.L2(), 3, true, true},
		"squared_l2":  {losses.SquaredL2(), 2, false, true},
		"mahalanobis": {mahalanobis(t, precision(dim)), 2, false, false},
		"huber":       {huber(t, 1.345), 3, false, true},
		"wide huber":  {huber(t, 1e3), 2, false, true},
		"by entries":  {huberEntries(t, 0.7), 2, false, true},
		"lp 1":        {lp(t, 1), 0, true, true},
		"lp 2":        {lp(t, 2), 2, false, true},
		"quantile":    {quantile(t, 0.2), 0, true, false},
	}
	for name, l := range redescending(t, 2) {
		list[name] = sample{l, 3, false, true}
	}
	if dim == 1 {
		list["l2"] = sample{losses.L2(), 0, true, true}
		list["huber"] = sample{huber(t, 1.345), 2, false, true}
	}
	for _, p := range []float64{1.25, 1.3, 1.5, 1.75, 2.5, 3, 4, 5.3, 17.1} {
		list[fmt.Sprint("lp ", p)] = sample{lp(t, p), 3, p < 2, p < 2}
	}
	return list
}

func TestLossConformance(t *testing.T) {
	for _, dim := range []int{1, 3, 50} {
		for name, c := range builtIn(t, dim) {
			t.Run(fmt.Sprintf("%s/%d", name, dim), func(t *testing.T) {
				report := frameworktest.CheckLoss(c.loss, frameworktest.LossOptions{Dim: dim, Seed: 1, NonConvex: redescends(c.loss)})
				require.NoError(t, report.Err())
				assertSlopes(t, report, c.order)
				_, smoother := c.loss.(framework.Smoother)
				assert.Equal(t, c.kinked, smoother, "smoother")
				_, majorizer := c.loss.(framework.Majorizer)
				assert.Equal(t, c.bounded, majorizer, "majorizer")
			})
		}
	}
}

func redescends(l framework.Loss) bool {
	return slices.Contains([]string{"tukey", "cauchy", "welsch", "geman_mcclure"}, l.Name())
}

// assertSlopes checks the measured slopes of a loss with the order given in
// [sample].
func assertSlopes(t *testing.T, report *frameworktest.Report, order int) {
	t.Helper()
	for _, v := range report.Verdicts {
		want := map[string]int{"gradient slope": 2, "Hessian slope": 3}[v.Law]
		if want == 0 {
			continue
		}
		if order < want {
			assert.Equal(t, "slope exact", v.Detail, v.Law)
			continue
		}
		var slope float64
		_, err := fmt.Sscanf(v.Detail, "slope %g", &slope)
		require.NoError(t, err, "%s: %s", v.Law, v.Detail)
		assert.InDelta(t, want, slope, 0.05, v.Law)
	}
}

func TestLossConformanceOfSmoothed(t *testing.T) {
	for _, dim := range []int{1, 3, 50} {
		for name, c := range builtIn(t, dim) {
			s, ok := c.loss.(framework.Smoother)
			if !ok {
				continue
			}
			for _, eps := range []float64{1, 1e-3} {
				l := s.Smooth(eps)
				t.Run(fmt.Sprintf("%s/%d/%g", name, dim, eps), func(t *testing.T) {
					frameworktest.TestLoss(t, l, frameworktest.LossOptions{Dim: dim, Seed: 2})
					assert.Implements(t, (*framework.SecondOrder)(nil), l)
					_, majorizer := l.(framework.Majorizer)
					assert.Equal(t, c.bounded, majorizer, "majorizer")
					assert.NotImplements(t, (*framework.Smoother)(nil), l)
				})
			}
		}
	}
}

func TestLossConformanceAtOtherScales(t *testing.T) {
	for name, c := range builtIn(t, 4) {
		for _, scale := range []float64{1e-6, 1e6} {
			t.Run(fmt.Sprintf("%s/%g", name, scale), func(t *testing.T) {
				frameworktest.TestLoss(t, c.loss, frameworktest.LossOptions{Dim: 4, Seed: 3, Scale: scale, NonConvex: redescends(c.loss)})
			})
		}
	}
	// More rows and entries than fit into one block of any kernel.
	for _, l := range []framework.Loss{losses.L1(), lp(t, 1.3), mahalanobis(t, precision(200))} {
		frameworktest.TestLoss(t, l, frameworktest.LossOptions{Dim: 200, Rows: 70})
	}
}

func TestLossStructures(t *testing.T) {
	want := map[string]rowloss.Structure{
		"l1": rowloss.StructureSeparable, "l2": rowloss.StructureRadial, "squared_l2": rowloss.StructureRadial,
		"lp": rowloss.StructureSeparable, "mahalanobis": rowloss.StructureQuadratic, "huber": rowloss.StructureRadial,
		"huber_entries": rowloss.StructureSeparable, "quantile": rowloss.StructureSeparable,
		"tukey": rowloss.StructureRadial, "cauchy": rowloss.StructureRadial,
		"welsch": rowloss.StructureRadial, "geman_mcclure": rowloss.StructureRadial,
	}
	for _, c := range builtIn(t, 3) {
		assert.Equal(t, want[c.loss.Name()], rowloss.StructureOf(c.loss), c.loss.Name())
	}
	assert.Equal(t, map[string]float64{"p": 1.3}, lp(t, 1.3).(rowloss.Parametric).Params())
	assert.Equal(t, map[string]float64{"p": 3}, lp(t, 3).(rowloss.Parametric).Params())
	assert.Equal(t, map[string]float64{"delta": 2}, huber(t, 2).(rowloss.Parametric).Params())
	smooth := lp(t, 1.3).(framework.Smoother).Smooth(0.1)
	assert.Equal(t, map[string]float64{"p": 1.3}, smooth.(rowloss.Parametric).Params())
	assert.Equal(t, 3, mahalanobis(t, precision(3)).(rowloss.Dimensioned).Dim())
}

// TestLossLimits compares losses that are special cases of one another.
func TestLossLimits(t *testing.T) {
	const dim = 6
	r, v := gauss(10*dim, 2), gauss(10*dim, 1)
	identity := mat.NewDiagDense(dim, []float64{1, 1, 1, 1, 1, 1})
	smooth := func(l framework.Loss, eps float64) framework.Loss { return l.(framework.Smoother).Smooth(eps) }
	for name, c := range map[string]struct {
		loss   framework.Loss
		factor float64
		limit  framework.Loss
	}{
		"lp(1) is l1":                     {lp(t, 1), 1, losses.L1()},
		"lp(2) is squared_l2":             {lp(t, 2), 1, losses.SquaredL2()},
		"mahalanobis(I) is squared_l2":    {mahalanobis(t, identity), 1, losses.SquaredL2()},
		"twice huber(inf) is squared_l2":  {huber(t, 1e9), 2, losses.SquaredL2()},
		"huber(delta)/delta goes to l2":   {huber(t, 1e-9), 1e9, losses.L2()},
		"the kernels of lp meet":          {lp(t, 1.5), 1, lp(t, math.Nextafter(1.5, 2))},
		"smooth lp(1) is smooth l1":       {smooth(lp(t, 1), 0.1), 1, smooth(losses.L1(), 0.1)},
		"smooth lp goes to smooth l1":     {smooth(lp(t, 1+1e-12), 0.1), 1, smooth(losses.L1(), 0.1)},
		"smooth lp goes to squared_l2":    {smooth(lp(t, 2-1e-12), 1), 1, losses.SquaredL2()},
		"smooth l2 goes to l2":            {smooth(losses.L2(), 1e-10), 1, losses.L2()},
		"smooth l1 goes to l1":            {smooth(losses.L1(), 1e-10), 1, losses.L1()},
		"smooth lp goes to lp":            {smooth(lp(t, 1.7), 1e-10), 1, lp(t, 1.7)},
		"smoothing over nothing is plain": {smooth(lp(t, 1.7), 0), 1, lp(t, 1.7)},
	} {
		t.Run(name, func(t *testing.T) {
			want, wantGrad := evaluate(t, c.limit, r, dim)
			got, grad := evaluate(t, c.loss, r, dim)
			product, wantProduct := hessian(t, c.loss, r, v, dim), hessian(t, c.limit, r, v, dim)
			for _, x := range [][]float64{got, grad, product} {
				floats.Scale(c.factor, x)
			}
			assert.InDeltaSlice(t, want, got, 1e-8)
			assert.InDeltaSlice(t, wantGrad, grad, 1e-8)
			assert.InDeltaSlice(t, wantProduct, product, 1e-6)
		})
	}
}

// TestLossKinks states the conventions of the package.
func TestLossKinks(t *testing.T) {
	r, v := make([]float64, 3), []float64{1, 2, 3}
	for name, c := range builtIn(t, 3) {
		values, grad := evaluate(t, c.loss, r, 3)
		assert.Zero(t, values[0], name)
		assert.Equal(t, r, grad, name)
		if c.kinked {
			assert.Equal(t, r, hessian(t, c.loss, r, v, 3), name)
		}
	}
	assert.Equal(t, []float64{1e100}, weights(t, losses.L2(), r, 3))
	assert.InEpsilonSlice(t, []float64{1e100, 1e100, 1e100}, weights(t, losses.L1(), r, 3), 1e-15)
	assert.InEpsilon(t, 1.5e50, weights(t, lp(t, 1.5), r, 3)[0], 1e-14)
	assert.Equal(t, []float64{1}, weights(t, huber(t, 2), r, 3))
	assert.Equal(t, []float64{2}, weights(t, losses.SquaredL2(), r, 3))
	for _, l := range []framework.Loss{losses.L1(), lp(t, 1.5), lp(t, 1.3)} {
		w := weights(t, l.(framework.Smoother).Smooth(1e-3), r, 3)
		product := hessian(t, l.(framework.Smoother).Smooth(1e-3), r, []float64{1, 1, 1}, 3)
		assert.InEpsilonSlice(t, product, w, 1e-12, "at the bottom a smooth loss is its bound")
	}
	d1, d2 := make([]float64, 2), make([]float64, 2)
	losses.L2().(framework.Radial).Rho(nil, d1, d2, []float64{0, 1e-200})
	assert.InEpsilonSlice(t, []float64{5e99, 5e99}, d1, 1e-14)
	assert.Zero(t, d2[0])
	assert.InEpsilon(t, -2.5e299, d2[1], 1e-14)
}

// TestLossScales uses residuals whose squares overflow or underflow.
func TestLossScales(t *testing.T) {
	for _, size := range []float64{1e200, 1e300, 1e-170, 1e-200, 1e-305, math.SmallestNonzeroFloat64 * 8} {
		r := []float64{2 * size, -3 * size, 6 * size} // of norm 7
		cosines := []float64{2. / 7, -3. / 7, 6. / 7}
		values, grad := evaluate(t, losses.L2(), r, 3)
		assert.InEpsilon(t, 7*size, values[0], 1e-15, size)
		assert.InDeltaSlice(t, cosines, grad, 1e-15, size)
		values, _ = evaluate(t, losses.L1(), r, 3)
		assert.InEpsilon(t, 11*size, values[0], 1e-15, size)
		values, grad = evaluate(t, huber(t, 1.5), r, 3)
		if size > 1 {
			assert.InEpsilon(t, 1.5*7*size, values[0], 1e-15)
			floats.Scale(1.5, cosines)
			assert.InDeltaSlice(t, cosines, grad, 1e-15)
		} else {
			assert.Less(t, values[0], 1e-300)
			assert.InEpsilonSlice(t, r, grad, 1e-15)
		}
		values, grad = evaluate(t, losses.L2().(framework.Smoother).Smooth(size), r, 3)
		assert.InDelta(t, math.Sqrt(50)-1, values[0]/size, 7.1*boundary(size), size)
		assert.Less(t, floats.Norm(grad, 2), 1+1e-15)
	}
}

// boundary is the relative error allowed for eps of this size: below 1e-100
// nothing is smoothed.
func boundary(eps float64) float64 {
	if eps < 1e-100 {
		return 1
	}
	return 1e-15
}

// TestLossSmoothingError states how far smoothed and plain losses differ.
func TestLossSmoothingError(t *testing.T) {
	r := append(gauss(300, 1), gauss(300, 1e-4)...)
	for _, eps := range []float64{1, 0.1, 1e-3, 1e-6} {
		for _, p := range []float64{1, 1.25, 1.3, 1.5, 1.75, 1.9} {
			plain, _ := evaluate(t, lp(t, p), r, 1)
			smooth, _ := evaluate(t, lp(t, p).(framework.Smoother).Smooth(eps), r, 1)
			floats.Sub(plain, smooth)
			assert.LessOrEqual(t, floats.Max(plain), math.Pow(eps, p)*(1+1e-12))
			assert.GreaterOrEqual(t, floats.Min(plain), -1e-14)
		}
		plain, _ := evaluate(t, losses.L2(), r, 3)
		smooth, _ := evaluate(t, losses.L2().(framework.Smoother).Smooth(eps), r, 3)
		floats.Sub(plain, smooth)
		assert.LessOrEqual(t, floats.Max(plain), eps)
		assert.GreaterOrEqual(t, floats.Min(plain), 0.)
	}
}

// TestLossSmoothedValuesDoNotCancel checks values of residuals far below eps.
func TestLossSmoothedValuesDoNotCancel(t *testing.T) {
	const eps = 0.25
	for _, p := range []float64{1, 1.25, 1.3, 1.75, 1.99} {
		l := lp(t, p).(framework.Smoother).Smooth(eps)
		for _, ratio := range []float64{1e-9, 1e-3, 0.06, 0.0625, 0.063, 0.5} {
			values, _ := evaluate(t, l, []float64{ratio * eps}, 1)
			want := math.Pow(eps, p) * math.Expm1(p/2*math.Log1p(ratio*ratio))
			assert.InEpsilon(t, want, values[0], 1e-12, "p = %g, |r|/eps = %g", p, ratio)
		}
	}
}

// TestLossNonFinite spoils one entry and expects its row alone to show it, also
// in the gradient.
func TestLossNonFinite(t *testing.T) {
	for name, c := range builtIn(t, 3) {
		for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
			r := []float64{1, 2, 3, 1, bad, 0, 1, 2, 3}
			values, grad := evaluate(t, c.loss, r, 3)
			assert.False(t, values[1] < math.MaxFloat64, "%s of %g is %g", name, bad, values[1])
			assert.Equal(t, values[0], values[2], name)
			assert.Equal(t, grad[:3], grad[6:], name)
			if math.IsNaN(bad) {
				assert.True(t, floats.HasNaN(grad[3:6]), name)
			}
		}
	}
}

func TestLossDoesNotAllocate(t *testing.T) {
	const dim = 7
	r, values, grad := gauss(100*dim, 1), make([]float64, 100), make([]float64, 100*dim)
	for name, c := range builtIn(t, dim) {
		all := []framework.Loss{c.loss}
		if s, ok := c.loss.(framework.Smoother); ok {
			all = append(all, s.Smooth(0.1))
		}
		for _, l := range all {
			w := grad
			if rowloss.StructureOf(l) == rowloss.StructureRadial {
				w = values
			}
			assert.Zero(t, testing.AllocsPerRun(100, func() { _ = l.Evaluate(values, grad, r, dim) }), name)
			assert.Zero(t, testing.AllocsPerRun(100, func() {
				_ = l.(framework.SecondOrder).HessianProduct(grad, r, grad, dim)
			}), name)
			if m, ok := l.(framework.Majorizer); ok {
				assert.Zero(t, testing.AllocsPerRun(100, func() { _ = m.Weights(w, r, dim) }), name)
			}
		}
	}
}

func TestLossRefusesWrongLengths(t *testing.T) {
	for name, c := range builtIn(t, 3) {
		assert.Panics(t, func() { _ = c.loss.Evaluate(nil, nil, make([]float64, 4), 3) }, name)
		assert.Panics(t, func() { _ = c.loss.Evaluate(make([]float64, 1), nil, make([]float64, 6), 3) }, name)
		assert.Panics(t, func() { _ = c.loss.Evaluate(nil, make([]float64, 5), make([]float64, 6), 3) }, name)
		assert.Panics(t, func() { _ = c.loss.Evaluate(nil, nil, nil, 0) }, name)
	}
}

func TestLpRefusesPowers(t *testing.T) {
	for _, p := range []float64{0.5, -1, math.NaN(), math.Inf(1)} {
		_, err := losses.Lp(p)
		require.ErrorIs(t, err, framework.ErrInvalid)
		assert.ErrorContains(t, err, fmt.Sprintf("losses: lp: p = %v: want p >= 1", p))
	}
}

func BenchmarkLp(b *testing.B) {
	const dim, rows = 50, 200
	r, values, grad := gauss(rows*dim, 1), make([]float64, rows), make([]float64, rows*dim)
	perEntry := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(r)), "ns/entry")
	}
	for _, p := range []float64{1, 1.25, 1.5, 1.75, 2, 3, 4, 1.3, 2.7} {
		l := lp(b, p)
		b.Run(fmt.Sprintf("p=%v", p), func(b *testing.B) {
			for b.Loop() {
				_ = l.Evaluate(values, grad, r, dim)
			}
			perEntry(b)
		})
		b.Run(fmt.Sprintf("p=%v/math.Pow", p), func(b *testing.B) {
			for b.Loop() {
				for i := range values {
					values[i] = 0
					for k := i * dim; k < (i+1)*dim; k++ {
						a := math.Abs(r[k])
						w := math.Pow(a, p-1)
						values[i] += a * w
						grad[k] = math.Copysign(p*w, r[k])
					}
				}
			}
			perEntry(b)
		})
	}
}

func BenchmarkLosses(b *testing.B) {
	for _, dim := range []int{3, 784} {
		rows := 30000 / dim
		r, values, grad := gauss(rows*dim, 1), make([]float64, rows), make([]float64, rows*dim)
		for name, c := range builtIn(b, dim) {
			b.Run(fmt.Sprintf("%s/%d", name, dim), func(b *testing.B) {
				for b.Loop() {
					_ = c.loss.Evaluate(values, grad, r, dim)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(r)), "ns/entry")
			})
		}
	}
}
