package denoise

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/rows"
)

// sample is noisy rows with the rows they come from and the projection on the
// true surface.
type sample struct {
	x, clean rows.Data
	oracle   func(dst, x []float64)
	best     []float64 // what the oracle says, where it is no function
	ignored  []int     // rows that do not count
}

// sphereSample draws n points on the unit sphere in R^3 with normal noise.
func sphereSample(seed uint64, n int, sigma float64) sample {
	rng := rand.New(rand.NewPCG(seed, 77))
	s := sample{
		x: rows.Data{N: n, D: 3, X: make([]float64, 3*n)}, clean: rows.Data{N: n, D: 3, X: make([]float64, 3*n)},
		oracle: func(dst, x []float64) {
			norm := math.Sqrt(dense.Dot(x, x))
			for j, v := range x {
				dst[j] = v / norm
			}
		},
	}
	for i := range n {
		p := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		s.oracle(s.clean.Row(i), p)
		for j, v := range s.clean.Row(i) {
			s.x.Row(i)[j] = v + sigma*rng.NormFloat64()
		}
	}
	return s
}

// meanSquare is mean |clean - y|^2 over the rows that count.
func (s sample) meanSquare(y []float64) float64 {
	var sum float64
	D := s.clean.D
	for i := range s.clean.N {
		if !slices.Contains(s.ignored, i) {
			far := rows.Distance(s.clean.Row(i), y[i*D:(i+1)*D])
			sum += far * far / float64(s.clean.N-len(s.ignored))
		}
	}
	return sum
}

func (s sample) oracleError() float64 {
	if s.best != nil {
		return s.meanSquare(s.best)
	}
	y := make([]float64, len(s.x.X))
	for i := range s.x.N {
		s.oracle(y[3*i:3*i+3], s.x.Row(i))
	}
	return s.meanSquare(y)
}

func run(t testing.TB, m Method, x rows.Data, o Options) *Result {
	t.Helper()
	d, err := Fit(context.Background(), m, x, o)
	require.NoError(t, err)
	r, err := d.Denoise(context.Background(), x, o)
	require.NoError(t, err)
	return r
}

func (s sample) score(t testing.TB, m Method) float64 {
	return s.meanSquare(run(t, m, s.x, Options{Reach: math.Inf(1)}).X)
}

// table is the mean squared errors x 1e4 that the methods are known to have on
// 300 rows of the sphere with K = 30, by noise, with standard errors of up to
// 3.5 %. Fits without ridge are those of Q. The table's Q at .12 is from one start
// of a solver that does not reach our objective; ours is 5 % above.
var table = struct {
	sigma, oracle []float64
	methods       []reference
}{
	[]float64{.03, .06, .09, .12, .15, .18, .21},
	[]float64{17.7, 70.6, 159, 282, 439, 631, 857},
	[]reference{
		{"Q squared_l2", classic.SCQM{Latent: 2, Ridge: classic.NoRidge}, []float64{20, 78, 182, 349, 599, 946, 1349}},
		{"L squared_l2", classic.SCQM{Latent: 2, Linear: true}, []float64{108, 157, 238, 353, 502, 687, 913}},
		{"lpca", classic.LPCA{Latent: 2}, []float64{108, 157, 238, 353, 502, 687, 913}},
		{"L l2", classic.SCQM{Latent: 2, Linear: true, Loss: losses.L2()}, []float64{108, 158, 241, 358, 510, 696, 926}},
		{"sph", classic.SPH{Latent: 2}, []float64{25, 155, 452, 906, 1411, 1982, 2590}},
		{"mfit, beta 2", classic.MFIT{Latent: 2, Beta: 2}, []float64{41, 102, 207, 356, 554, 806, 1117}},
		{"mls, flat", classic.MLS{Latent: 2, Flat: true}, []float64{19, 76, 170, 301, 466, 668, 910}},
	},
}

type reference struct {
	name   string
	method Method
	errors []float64
}

var (
	fullTables = flag.Bool("tables", false, "print and test all reference tables, which takes an hour")
	seeds      = flag.Uint64("seeds", 2, "data sets for each figure")
	firstSeed  = flag.Uint64("first-seed", 1000, "seed of the first of them")
)

// needSpeed leaves out, under the race detector, tests of numbers alone, which it
// makes ten times as slow; make test runs them again without it.
// TestRowsAreIndependent runs all methods on several goroutines.
func needSpeed(t *testing.T) {
	t.Helper()
	if drill.Race {
		t.Skip("tests numbers, not concurrency")
	}
}

// ratio is the mean of E / oracle over data sets, and its standard error. Both
// share the noise, so that it varies less than E.
func ratio(t testing.TB, m Method, draw func(seed uint64) sample) (mean, stderr float64) {
	var list []float64
	for seed := range *seeds {
		s := draw(*firstSeed + seed)
		list = append(list, s.score(t, m)/s.oracleError())
	}
	mean, deviation := stat.MeanStdDev(list, nil)
	return mean, deviation / math.Sqrt(float64(len(list)))
}

// TestReferenceTable wants every method within three standard errors of the
// table, relative to the oracle.
func TestReferenceTable(t *testing.T) {
	needSpeed(t)
	for _, m := range table.methods {
		for k, sigma := range table.sigma {
			if !*fullTables && (k != 0 && k != 3 || m.name == "L l2") {
				continue
			}
			mean, stderr := ratio(t, m.method, func(seed uint64) sample { return sphereSample(seed, 300, sigma) })
			want := m.errors[k] / table.oracle[k]
			t.Logf("%-13s sigma %.2f: %6.3f +- %.3f of the oracle, reference %6.3f", m.name, sigma, mean, stderr, want)
			require.InDelta(t, want, mean, 3*math.Hypot(stderr, 0.035*want), "%s, %v", m.name, sigma)
		}
	}
}

// TestAutoReference wants auto near the oracle and no worse than MLS.
func TestAutoReference(t *testing.T) {
	if testing.Short() {
		t.Skip("4 s: three methods beside the oracle, on many samples; make test runs it")
	}
	needSpeed(t)
	var relative []float64
	for k, sigma := range table.sigma {
		if !*fullTables && k != 3 {
			continue
		}
		draw := func(seed uint64) sample { return sphereSample(seed, 300, sigma) }
		auto, e := ratio(t, Auto{Latent: 2}, draw)
		square := math.NaN() // which is told only
		if *fullTables {
			square, _ = ratio(t, Auto{Latent: 2, LeastSquares: true}, draw)
		}
		mls, _ := ratio(t, classic.MLS{Latent: 2, Flat: true}, draw)
		t.Logf("sigma %.2f: auto %.3f +- %.3f, squared_l2 %.3f, mls %.3f of the oracle", sigma, auto, e, square, mls)
		most := 1.06
		if sigma == .03 {
			most = 1.07
		}
		require.Less(t, auto, most+3*e, "%v", sigma)
		require.Greater(t, auto, 0.97, "too good to be true")
		require.LessOrEqual(t, auto, mls*(1+0.01*flagged(!*fullTables)), "%v", sigma)
		relative = append(relative, auto/mls)
	}
	require.LessOrEqual(t, stat.Mean(relative, nil), 0.98+0.01*flagged(!*fullTables))
}

// flagged is 1 where few data sets leave room for chance.
func flagged(few bool) float64 {
	if few {
		return 1
	}
	return 0
}

// TestAutoElsewhere tries other surfaces, and outliers.
func TestAutoElsewhere(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		name  string
		d     int
		most  float64
		quick bool
		draw  func(seed uint64) sample
	}{
		{"sphere, 20 % outliers", 2, 1.06, true, outlierSample},
		{"torus, sigma .05", 2, 1.07, false, func(seed uint64) sample {
			return surfaceSample(seed, 1000, 3, .05, 2, torusPoint)
		}},
		{"torus, sigma .10", 2, 1.07, false, func(seed uint64) sample {
			return surfaceSample(seed, 1000, 3, .1, 2, torusPoint)
		}},
		{"surface in R^20", 2, 1.2, false, func(seed uint64) sample {
			return surfaceSample(seed, 600, 20, .05, 2, widePoint)
		}},
		{"helix, sigma .10", 1, 1.25, false, func(seed uint64) sample {
			return surfaceSample(seed, 400, 3, .1, 1, helixPoint)
		}},
	} {
		if !*fullTables && !c.quick {
			continue
		}
		auto, e := ratio(t, Auto{Latent: c.d}, c.draw)
		mls, _ := ratio(t, classic.MLS{Latent: c.d, Flat: true}, c.draw)
		t.Logf("%-22s auto %.3f +- %.3f, mls %.3f of the oracle", c.name, auto, e, mls)
		require.Less(t, auto, c.most+3*e, c.name)
	}
}

// outlierSample is a sphere on which one row in five is far off; these do not
// count.
func outlierSample(seed uint64) sample {
	s := sphereSample(seed, 300, .06)
	rng := rand.New(rand.NewPCG(seed, 78))
	for i := 0; i < s.x.N; i += 5 {
		s.ignored = append(s.ignored, i)
		for j := range 3 {
			s.x.Row(i)[j] = 3 * (2*rng.Float64() - 1)
		}
	}
	return s
}

func torusPoint(x []float64, rng *rand.Rand, t []float64) {
	for rng != nil {
		t[0], t[1] = 2*math.Pi*rng.Float64(), 2*math.Pi*rng.Float64()
		if rng.Float64() < (1+.4*math.Cos(t[1]))/1.4 {
			break
		}
	}
	r := 1 + .4*math.Cos(t[1])
	x[0], x[1], x[2] = r*math.Cos(t[0]), r*math.Sin(t[0]), .4*math.Sin(t[1])
}

// widePoint bends into every one of its columns, of unit variance together.
func widePoint(x []float64, rng *rand.Rand, t []float64) {
	if rng != nil {
		t[0], t[1] = 2*rng.Float64()-1, 2*rng.Float64()-1
	}
	for j := range x {
		a := float64(j)
		x[j] = (math.Cos(a)*t[0] + math.Sin(a)*t[1] + .5*math.Sin(1.5*(t[0]*math.Sin(2*a)+t[1]*math.Cos(3*a)))) / 3
	}
}

func helixPoint(x []float64, rng *rand.Rand, t []float64) {
	if rng != nil {
		t[0] = 4 * math.Pi * rng.Float64()
	}
	x[0], x[1], x[2] = math.Cos(t[0]), math.Sin(t[0]), .25*t[0]
}

// surfaceSample draws rows near the points of a parametrised surface. The
// oracle goes from the true parameters to the nearest point by Gauss-Newton.
func surfaceSample(seed uint64, n, D int, sigma float64, d int, point func(x []float64, rng *rand.Rand, t []float64)) sample {
	rng := rand.New(rand.NewPCG(seed, 79))
	s := sample{x: rows.Data{N: n, D: D, X: make([]float64, n*D)}, clean: rows.Data{N: n, D: D, X: make([]float64, n*D)}}
	s.best = make([]float64, n*D)
	t := make([]float64, d)
	for i := range n {
		point(s.clean.Row(i), rng, t)
		for j, v := range s.clean.Row(i) {
			s.x.Row(i)[j] = v + sigma*rng.NormFloat64()
		}
		y := s.best[i*D : (i+1)*D]
		up, diff := make([]float64, D), make([]float64, D)
		sums := chart.NewRegression(d, 1)
		step, jac := make([]float64, d), make([]float64, d*D)
		for range 30 {
			point(y, nil, t)
			for a := range d {
				const h = 1e-6
				t[a] += h
				point(up, nil, t)
				t[a] -= h
				for j := range D {
					jac[a*D+j] = (up[j] - y[j]) / h
				}
			}
			sums.Reset()
			for j := range D {
				diff[j] = s.x.Row(i)[j] - y[j]
				for a := range d {
					step[a] = jac[a*D+j]
				}
				sums.Add(step, diff[j:j+1], 1)
			}
			if !sums.Solve(step) {
				break
			}
			for a := range d {
				t[a] += step[a]
			}
		}
		point(y, nil, t)
	}
	return s
}
