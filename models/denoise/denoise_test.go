package denoise

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/rows"
)

// everyMethod returns all methods with defaults, and robust ones.
func everyMethod(t testing.TB, d int) map[string]Method {
	list := map[string]Method{"scqm l2": classic.SCQM{Latent: d, Loss: losses.L2(), Steps: 10}, "passes": classic.SCQM{Latent: d, Passes: 3}, "kde local": classic.KDE{Latent: d, Local: true, Neighbors: 8}}
	for _, e := range Describe() {
		m, err := ByName(e.Name, Settings{Latent: d})
		require.NoError(t, err)
		list[e.Name] = m
	}
	if !drill.Whole() { // choosing them takes eight times as long as all else that it does
		list["auto"] = Auto{Latent: d, Neighbors: 30}
	}
	return list
}

// TestRowsAreIndependent denoises rows alone and with other numbers of threads, and
// wants the same bits: of each method with one kind of options, of all with all in
// a soak.
func TestRowsAreIndependent(t *testing.T) {
	methods, kinds := everyMethod(t, 2), []Options{{}, {Average: 3}, {Share: 0.5}}
	names := slices.Sorted(maps.Keys(methods))
	drill.Run(t, "method-rows", len(names), func(c drill.Case) error {
		i, k, lap := pair(c.Index, len(names), len(kinds))
		if err := tryIndependence(methods[names[i]], sphereSample(5+uint64(lap), 70, 0.06), kinds[k]); err != nil {
			return fmt.Errorf("%s, %+v: %w", names[i], kinds[k], err)
		}
		return nil
	})
}

func tryIndependence(m Method, s sample, o Options) error {
	ctx := context.Background()
	var d [2]*Denoiser
	var all [2]*Result
	for k, threads := range []int{1, 3} {
		var err error
		o.Threads = threads
		if d[k], err = Fit(ctx, m, s.x, o); err != nil {
			return err
		}
		if all[k], err = d[k].Denoise(ctx, s.x, o); err != nil {
			return err
		}
	}
	if !assert.ObjectsAreEqual(all[0], all[1]) {
		return errors.New("results of one thread and of three differ")
	}
	for i := 0; i < s.x.N; i += 33 {
		alone, err := d[0].Denoise(ctx, rows.Data{N: 1, D: 3, X: s.x.Row(i)}, o)
		if err != nil {
			return err
		}
		if !slices.Equal(all[0].X[3*i:3*i+3], alone.X) || !assert.ObjectsAreEqual(all[0].Rows[i], alone.Rows[0]) {
			return fmt.Errorf("row %d differs when it is alone", i)
		}
	}
	return nil
}

func TestLinearIsLPCA(t *testing.T) {
	needSpeed(t)
	s := sphereSample(1, 300, 0.09)
	a := run(t, classic.LPCA{Latent: 2}, s.x, Options{}).X
	b := run(t, classic.SCQM{Latent: 2, Linear: true}, s.x, Options{}).X
	require.InDeltaSlice(t, a, b, 1e-6)
}

// TestAliasSQMF compares sqmf with the alternating solver for the same loss.
func TestAliasSQMF(t *testing.T) {
	needSpeed(t)
	s := sphereSample(2, 60, 0.05)
	m, err := ByName("sqmf", Settings{Latent: 2})
	require.NoError(t, err)
	a := run(t, m, s.x, Options{})
	b := run(t, classic.SCQM{Latent: 2, Passes: 3000}, s.x, Options{})
	require.InDeltaSlice(t, a.X, b.X, 2e-3)
	require.Equal(t, run(t, classic.SCQM{Latent: 2, Loss: losses.SquaredL2()}, s.x, Options{}).X, a.X)
}

// parabola returns noise-free rows of a surface that quadratic charts contain.
func parabola(n, D int) rows.Data {
	x := rows.Data{N: n, D: D, X: make([]float64, n*D)}
	t := normalRows(4, n, 2)
	for i := range n {
		a, b := 0.3*t[2*i], 0.3*t[2*i+1]
		copy(x.Row(i), []float64{a, b, a*a + a*b - 0.5*b*b})
	}
	return x
}

// TestExactSurfaces wants rows without noise left where they are by methods
// that contain their surface.
func TestExactSurfaces(t *testing.T) {
	needSpeed(t)
	x := parabola(200, 5)
	require.InDeltaSlice(t, x.X, run(t, classic.SCQM{Latent: 2, Ridge: classic.NoRidge}, x, Options{}).X, 1e-4)
	// Over a turned plane the surface is not quadratic, nearly so where rows are dense.
	var moved []float64
	for _, row := range run(t, Auto{Latent: 2}, x, Options{}).Rows {
		moved = append(moved, row.Residual)
	}
	slices.Sort(moved)
	require.Less(t, moved[100], 1e-4)
	require.Less(t, moved[180], 6e-4)
	require.Less(t, moved[199], 3e-2, "at the rim")
	// Turns of regression and projection end slowly.
	require.InDeltaSlice(t, x.X, run(t, classic.QMF{Latent: 2, Lambda: classic.NoRidge, Rounds: 500}, x, Options{}).X, 1e-3)
	plane := rows.Data{N: 100, D: 4, X: normalRows(6, 100, 4)}
	for i := range plane.N {
		r := plane.Row(i)
		r[2], r[3] = r[0]-r[1], 2*r[1]+7
	}
	for name, m := range everyMethod(t, 2) {
		switch name {
		case "sph", "kde", "logkde", "kde local", "apss": // a sphere, ridges that end, and d = D-1 only
			continue
		}
		require.InDeltaSlice(t, plane.X, run(t, m, plane, Options{}).X, 1e-6, name)
	}
}

// TestSphereletOfASphere wants exact circles left alone, and points off the
// circle moved to it.
func TestSphereletOfASphere(t *testing.T) {
	x := rows.Data{N: 40, D: 3, X: make([]float64, 120)}
	for i := range x.N {
		sin, cos := math.Sincos(float64(i) * 2 * math.Pi / 40)
		copy(x.Row(i), []float64{3 + 2*cos, 1 + 2*sin, 5})
	}
	d, err := Fit(context.Background(), classic.SPH{Latent: 1, Neighbors: 9}, x, Options{})
	require.NoError(t, err)
	r, err := d.Denoise(context.Background(), rows.Data{N: 1, D: 3, X: []float64{5.3, 1, 5.2}}, Options{})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{5, 1, 5}, r.X, 1e-9)
}

// TestLPCAByHand projects on the line through three points.
func TestLPCAByHand(t *testing.T) {
	x := rows.Data{N: 3, D: 2, X: []float64{0, 0, 2, 0, 4, 0}}
	d, err := Fit(context.Background(), classic.LPCA{Latent: 1, Neighbors: 3}, x, Options{})
	require.NoError(t, err)
	r, err := d.Denoise(context.Background(), rows.Data{N: 2, D: 2, X: []float64{1, 0.5, 90, 1}}, Options{})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{1, 0, 90, 1}, r.X, 1e-12, "the second is too far out and stays")
	require.False(t, r.Rows[0].Unchanged)
	require.InDelta(t, 0.5, r.Rows[0].Residual, 1e-12)
	require.True(t, r.Rows[1].Unchanged && r.Rows[1].Extrapolated)
}

// TestKDEByHand: between two equal clusters the ridge of dimension 1 is the line
// through them.
func TestKDEByHand(t *testing.T) {
	x := rows.Data{N: 2, D: 2, X: []float64{-1, 0, 1, 0}}
	for _, log := range []bool{false, true} {
		d, err := Fit(context.Background(), classic.KDE{Latent: 1, Width: 1, Log: log}, x, Options{})
		require.NoError(t, err)
		r, err := d.Denoise(context.Background(), rows.Data{N: 1, D: 2, X: []float64{0.2, 0.4}}, Options{})
		require.NoError(t, err)
		require.InDelta(t, 0, r.X[1], 1e-5)
		require.InDelta(t, 0.2, r.X[0], 0.1)
	}
}

// TestWeights: a row of weight 0 teaches nothing, and equal weights nothing new.
func TestWeights(t *testing.T) {
	needSpeed(t)
	s := sphereSample(3, 150, 0.05)
	outliers := s.x
	outliers.N += 5
	outliers.X = append(append([]float64(nil), s.x.X...), make([]float64, 15)...)
	outliers.Weights = make([]float64, outliers.N)
	for i := range s.x.N {
		outliers.Weights[i] = 1
	}
	for name, m := range everyMethod(t, 2) {
		want := run(t, m, s.x, Options{})
		d, err := Fit(context.Background(), m, outliers, Options{})
		require.NoError(t, err, name)
		got, err := d.Denoise(context.Background(), s.x, Options{})
		require.NoError(t, err, name)
		require.Equal(t, want.X, got.X, name)
	}
}

func TestInterruption(t *testing.T) {
	s := sphereSample(3, 400, 0.05)
	ctx, cancel := context.WithCancel(context.Background())
	d, err := Fit(ctx, classic.MLS{Latent: 2}, s.x, Options{})
	require.NoError(t, err)
	last := 0.0
	r, err := d.Denoise(ctx, s.x, Options{Threads: 2, Progress: func(part float64) {
		require.Greater(t, part, last)
		last = part
		if part > 0.5 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	done := 0
	for i, row := range r.Rows {
		if !row.Unchanged {
			done++
			require.NotEqual(t, s.x.Row(i), r.X[3*i:3*i+3])
		} else {
			require.Equal(t, s.x.Row(i), r.X[3*i:3*i+3])
		}
	}
	require.Greater(t, done, 180)
	require.Less(t, done, 300)
	_, err = Fit(ctx, Auto{Latent: 2}, s.x, Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// TestNewRows: fresh rows of the same sphere are denoised as well as those that
// were fitted.
func TestNewRows(t *testing.T) {
	needSpeed(t)
	s, fresh := sphereSample(3, 400, 0.06), sphereSample(4, 300, 0.06)
	for name, m := range everyMethod(t, 2) {
		if name == "kde" || name == "logkde" || name == "kde local" || name == "linear" || name == "lpca" || name == "mfit" || name == "sph" || name == "pca" {
			continue // their bias hides the difference
		}
		d, err := Fit(context.Background(), m, s.x, Options{})
		require.NoError(t, err)
		r, err := d.Denoise(context.Background(), fresh.x, Options{})
		require.NoError(t, err)
		require.Less(t, fresh.meanSquare(r.X)/fresh.oracleError(), 1.2, name)
	}
}

func TestNoise(t *testing.T) {
	needSpeed(t)
	s := sphereSample(3, 400, 0.04)
	for name, m := range everyMethod(t, 2) {
		var mean float64
		for _, row := range run(t, m, s.x, Options{}).Rows {
			mean += row.Noise / 400
		}
		switch name {
		case "kde", "logkde", "kde local", "mfit":
			require.Zero(t, mean)
		case "sph", "lpca", "linear", "pca": // far spheres, and the curvature that planes leave, count as noise
			require.Greater(t, mean, 0.03)
		case "scqm", "sqmf", "scqm l2", "passes", "qmf": // free latents take a part of it
			require.InDelta(t, 0.04, mean, 0.015, name)
		default:
			require.InDelta(t, 0.04, mean, 0.006, name)
		}
	}
}

func TestAverageGains(t *testing.T) {
	needSpeed(t)
	var plain, average float64
	for seed := range uint64(3) {
		s := sphereSample(20+seed, 300, 0.12)
		plain += s.meanSquare(run(t, classic.MLS{Latent: 2}, s.x, Options{}).X)
		average += s.meanSquare(run(t, classic.MLS{Latent: 2}, s.x, Options{Average: 10}).X)
	}
	require.Less(t, average, plain)
}

// TestShare: shared charts cost little accuracy.
func TestShare(t *testing.T) {
	needSpeed(t)
	s := sphereSample(8, 2000, 0.03)
	alone, together := run(t, classic.SCQM{Latent: 2}, s.x, Options{}), run(t, classic.SCQM{Latent: 2}, s.x, Options{Share: 0.4})
	require.Less(t, s.meanSquare(together.X), 1.15*s.meanSquare(alone.X))
	require.InEpsilon(t, math.Sqrt(sample{clean: rows.Data{N: 2000, D: 3, X: alone.X}}.meanSquare(together.X)), together.ShareError, 0.2)
	require.InEpsilon(t, math.Sqrt(sample{clean: s.x}.meanSquare(alone.X)), together.ShareMoved, 0.2)
	require.Zero(t, alone.ShareError)
}

// Flat fits by the algorithm of the paper come as models with curvature zero.
func TestFlatPasses(t *testing.T) {
	s := sphereSample(3, 60, 0.03)
	r := run(t, classic.SCQM{Latent: 2, Linear: true, Passes: 2}, s.x, Options{})
	require.NotEqual(t, s.x.X, r.X)
}

// TestFarRowsAreFlagged: rows far from all others are extrapolated though their
// feet are among the neighbours; those that were fitted are not.
func TestFarRowsAreFlagged(t *testing.T) {
	needSpeed(t)
	s := sphereSample(1, 300, 0.03)
	for name, m := range everyMethod(t, 2) {
		if name == "pca" {
			continue // which takes all rows far from their neighbours on a sphere
		}
		d, err := Fit(context.Background(), m, s.x, Options{})
		require.NoError(t, err)
		r, err := d.Denoise(context.Background(), rows.Data{N: 2, D: 3, X: []float64{0, 0, 3, 1.8, 1.8, 0}}, Options{})
		require.NoError(t, err)
		require.True(t, r.Rows[0].Extrapolated && r.Rows[1].Extrapolated, name)
		flagged := 0
		for _, row := range run(t, m, s.x, Options{}).Rows {
			if row.Extrapolated {
				flagged++
			}
		}
		require.LessOrEqual(t, flagged, 3, name)
		if name == "auto" { // which knows the noise
			r, err = d.Denoise(context.Background(), rows.Data{N: 1, D: 3, X: []float64{0, 0, 1.3}}, Options{})
			require.NoError(t, err)
			require.True(t, r.Rows[0].Extrapolated)
		}
	}
}

// TestRowsTakeNoMemory: three times as many rows take a few allocations more,
// whatever the method, but where every row has a fit, with principal components of its own.
func TestRowsTakeNoMemory(t *testing.T) {
	needSpeed(t)
	s := sphereSample(5, 600, 0.03)
	part := func(n int) rows.Data { return rows.Data{N: n, D: 3, X: s.x.X[:3*n]} }
	methods := everyMethod(t, 2)
	delete(methods, "kde local") // which is slow, and no other than kde
	for name, m := range methods {
		if _, fits := m.(classic.SCQM); fits {
			continue
		}
		d, err := Fit(context.Background(), m, s.x, Options{})
		require.NoError(t, err)
		allocations := func(n int) float64 {
			return testing.AllocsPerRun(1, func() {
				_, err := d.Denoise(context.Background(), part(n), Options{Threads: 1})
				require.NoError(t, err)
			})
		}
		require.Less(t, allocations(96)-allocations(32), 32.0, name)
	}
}

func normalRows(seed uint64, n, D int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n*D)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}
