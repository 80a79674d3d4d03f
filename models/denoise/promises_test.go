package denoise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/models/rows"
)

// TestOrderOfRows wants the same result for rows in another order: of curves, surfaces, many rows, wide rows, rows that come
// twice and have weights, and rows on a grid, whose distances are equal.
func TestOrderOfRows(t *testing.T) {
	needSpeed(t)
	rng := rand.New(rand.NewPCG(301, 1))
	sphere := func(n int) rows.Data {
		return noisy(rng, n, 3, .05, sphereFar, func(p []float64) { unitSphere(rng, p) }).x
	}
	twice := sphere(300)
	for i := range 100 {
		twice.X = append(twice.X, twice.Row(3*i)...)
	}
	twice.N += 100
	for range twice.N {
		twice.Weights = append(twice.Weights, .5+rng.Float64())
	}
	gridded := sphere(400)
	for i, v := range gridded.X {
		gridded.X[i] = math.Round(10*v) / 10
	}
	for name, c := range map[string]struct {
		m Method
		x rows.Data
	}{
		"curve":   {Auto{Latent: 1}, noisyCurve(rng, 250, 3, .05, helix).x},
		"surface": {Auto{Latent: 2}, sphere(500)},
		"many":    {Auto{Latent: 2, Neighbors: 40}, sphere(2600)},
		"wide":    {Auto{Latent: 2, Neighbors: 40}, wideSphere(31, 250, 24, .05).x},
		"weights": {Auto{Latent: 2}, twice},
		"grid":    {Auto{Latent: 2}, gridded},
		"chosen":  {Select{}, sphere(200)},
	} {
		if name == "chosen" {
			var err error
			c.m, err = ByName("apss", Settings{Latent: 2})
			require.NoError(t, err)
		}
		want := run(t, c.m, c.x, Options{})
		order := rng.Perm(c.x.N)
		got := run(t, c.m, c.x.Select(order), Options{})
		for k, i := range order {
			require.InDeltaSlice(t, want.X[i*c.x.D:(i+1)*c.x.D], got.X[k*c.x.D:(k+1)*c.x.D], 1e-9, name)
			require.Equal(t, want.Rows[i].Unchanged, got.Rows[k].Unchanged, name)
		}
	}
}

// TestThreads wants the same bits from one thread and from four.
func TestThreads(t *testing.T) {
	needSpeed(t)
	rng := rand.New(rand.NewPCG(302, 1))
	for d, x := range map[int]rows.Data{1: noisyCurve(rng, 400, 2, .02, spiral).x, 2: boxes(rng, chair, 1200, .005).x} {
		require.Equal(t, run(t, Auto{Latent: d}, x, Options{Threads: 1}), run(t, Auto{Latent: d}, x, Options{Threads: 4}))
	}
}

// TestNeverWorse wants rows of many shapes no further from these than they came, but for 2 %, and noise taken off those
// whose neighbourhoods tell it from the shape.
func TestNeverWorse(t *testing.T) {
	needSpeed(t)
	outliers := func(rng *rand.Rand, s noisyShape, part, half float64) noisyShape {
		s.scatter(rng, part, half)
		return s
	}
	sphere := func(rng *rand.Rand, n, D int, sigma float64) noisyShape {
		return noisy(rng, n, D, sigma, sphereFar, func(p []float64) { unitSphere(rng, p) })
	}
	cube, slab := []cuboid{{{0, 0, 0}, {1, 1, 1}}}, []cuboid{{{0, 0, 0}, {1, 1, .025}}}
	for _, c := range []struct {
		name string
		d    int
		most float64 // of the distance of the rows as they came
		draw func(rng *rand.Rand) noisyShape
	}{
		{"chair", 2, 1.02, func(rng *rand.Rand) noisyShape { return boxes(rng, chair, 1500, .002*2.45) }},
		// Fewer points than its legs take: all stay where they are, or are no worse by much.
		{"chair of 200", 2, 1.02, func(rng *rand.Rand) noisyShape { return boxes(rng, chair, 200, .002*2.45) }},
		{"sparse chair", 2, 1.6, func(rng *rand.Rand) noisyShape { return boxes(rng, chair, 800, .002*2.45) }},
		{"plates", 2, .5, func(rng *rand.Rand) noisyShape { return plates(rng, 2000, .1, .012) }},
		{"slab thinner than its gaps", 2, .5, func(rng *rand.Rand) noisyShape { return boxes(rng, slab, 4000, .0025) }},
		{"growing noise", 2, .5, func(rng *rand.Rand) noisyShape { return growing(rng, 1500, .01, .1) }},
		{"cube", 2, .7, func(rng *rand.Rand) noisyShape { return boxes(rng, cube, 3000, .01) }},
		{"helix", 1, .5, func(rng *rand.Rand) noisyShape { return noisyCurve(rng, 400, 3, .08, helix) }},
		{"trefoil", 1, .5, func(rng *rand.Rand) noisyShape { return noisyCurve(rng, 600, 3, .1, trefoil) }},
		{"spiral, outliers", 1, .6, func(rng *rand.Rand) noisyShape {
			return outliers(rng, noisyCurve(rng, 500, 2, .03, spiral), .1, 1.4)
		}},
		{"sphere, outliers", 2, .5, func(rng *rand.Rand) noisyShape { return outliers(rng, sphere(rng, 800, 3, .05), .2, 1.5) }},
		{"wave in ten columns", 1, .5, func(rng *rand.Rand) noisyShape { return noisyCurve(rng, 300, 10, .05, wave) }},
		{"circle of 30", 1, .8, func(rng *rand.Rand) noisyShape { return noisyCurve(rng, 30, 2, .1, circle) }},
		{"circle of 60", 1, .7, func(rng *rand.Rand) noisyShape { return noisyCurve(rng, 60, 2, .1, circle) }},
		{"circle of 100", 1, .6, func(rng *rand.Rand) noisyShape { return noisyCurve(rng, 100, 2, .1, circle) }},
		{"sphere of 40", 2, 1.02, func(rng *rand.Rand) noisyShape { return sphere(rng, 40, 3, .1) }},
		{"sphere of 100", 2, .8, func(rng *rand.Rand) noisyShape { return sphere(rng, 100, 3, .1) }},
	} {
		for seed := range *seeds {
			s := c.draw(rand.New(rand.NewPCG(303+seed, 1)))
			r := run(t, Auto{Latent: c.d}, s.x, Options{})
			ratio := s.off(r.X) / s.off(s.x.X)
			t.Logf("%-20s %.3f of what it was", c.name, ratio)
			if ratio > c.most {
				t.Errorf("%s, seed %d: %.3f of what it was, want %.2f", c.name, seed, ratio, c.most)
			}
			requireFlags(t, s.x, r)
		}
	}
}

// requireFlags wants rows that are left to be flagged, with what is said of them, and others to be moved as far as is said.
func requireFlags(t *testing.T, x rows.Data, r *Result) {
	t.Helper()
	for i, row := range r.Rows {
		y := r.X[i*x.D : (i+1)*x.D]
		require.InDelta(t, rows.Distance(x.Row(i), y), row.Residual, 1e-9)
		if row.Unchanged {
			require.True(t, row.Extrapolated)
			require.Equal(t, x.Row(i), y)
		} else {
			require.Positive(t, row.Neighbors)
		}
	}
}

// TestOutliersStay: rows far from the surface are left where they are, and flagged; few others are.
func TestOutliersStay(t *testing.T) {
	needSpeed(t)
	rng := rand.New(rand.NewPCG(304, 1))
	s := noisy(rng, 1000, 3, .03, sphereFar, func(p []float64) { unitSphere(rng, p) })
	s.scatter(rng, .15, 1.5)
	r := run(t, Auto{Latent: 2}, s.x, Options{})
	var far, left, others, flagged int
	for i, row := range r.Rows {
		switch {
		case !s.outlier[i]:
			if others++; row.Extrapolated {
				flagged++
			}
		case s.far(s.x.Row(i)) > .4:
			if far++; row.Unchanged {
				left++
			}
		}
	}
	require.GreaterOrEqual(t, left, far*9/10)
	require.Less(t, flagged, others/20)
}

// TestDrillOutliers wants a sphere with outliers within 1.5 times the least error that a given number of neighbours has,
// and within 1.25 in the mean of several clouds.
func TestDrillOutliers(t *testing.T) {
	needSpeed(t)
	n, sizes := 1500, []int{60, 150, 400}
	if drill.Whole() {
		n, sizes = 10000, []int{120, 270, 600, 1200}
	}
	parts := []float64{.1, .2, 0}
	var ratios []float64
	drill.Run(t, "outliers", 2, func(c drill.Case) error {
		s := noisy(c.Rand, n, 3, .02, sphereFar, func(p []float64) { unitSphere(c.Rand, p) })
		s.scatter(c.Rand, parts[c.Index%len(parts)], 1.5)
		best := math.Inf(1)
		for _, k := range sizes {
			best = min(best, s.off(run(t, Auto{Latent: 2, Neighbors: k}, s.x, Options{}).X))
		}
		got := s.off(run(t, Auto{Latent: 2}, s.x, Options{}).X)
		t.Logf("%.0f %% outliers: %.3f of the best", 100*parts[c.Index%len(parts)], got/best)
		ratios = append(ratios, got/best)
		if got > 1.5*best {
			return fmt.Errorf("%.0f %% outliers: %.2g from the sphere, with the best number of neighbours %.2g", 100*parts[c.Index%len(parts)], got, best)
		}
		return nil
	})
	if len(ratios) > len(parts) {
		require.LessOrEqual(t, stat.Mean(ratios, nil), 1.25)
	}
}

// TestExactRowsStay wants rows without noise moved by a thousandth of the sphere at most.
func TestExactRowsStay(t *testing.T) {
	needSpeed(t)
	rng := rand.New(rand.NewPCG(305, 1))
	for _, D := range []int{2, 3} {
		s := noisy(rng, 500*(D-1), D, 0, sphereFar, func(p []float64) { unitSphere(rng, p) })
		r := run(t, Auto{Latent: D - 1}, s.x, Options{})
		require.Less(t, s.off(r.X), 1e-4)
		for i, row := range r.Rows {
			require.Less(t, row.Residual, 1e-3, "row %d of %d columns", i, D)
		}
	}
}

// TestLeastSquares is for noise without outliers, and lets these pull charts.
func TestLeastSquares(t *testing.T) {
	needSpeed(t)
	s := sphereSample(306, 500, .08)
	require.Less(t, s.score(t, Auto{Latent: 2, LeastSquares: true}), 1.1*s.oracleError())
	rng := rand.New(rand.NewPCG(306, 1))
	spoilt := noisy(rng, 600, 3, .03, sphereFar, func(p []float64) { unitSphere(rng, p) })
	spoilt.scatter(rng, .15, 1.3)
	robust, square := run(t, Auto{Latent: 2}, spoilt.x, Options{}), run(t, Auto{Latent: 2, LeastSquares: true}, spoilt.x, Options{})
	require.Less(t, spoilt.off(robust.X), .7*spoilt.off(square.X))
}

// TestNeighborsGiven wants charts of the number of rows asked for.
func TestNeighborsGiven(t *testing.T) {
	needSpeed(t)
	s := sphereSample(307, 400, .05)
	var scores []float64
	for _, k := range []int{12, 40, 150} {
		m := Auto{Latent: 2, Neighbors: k}
		d, err := Fit(context.Background(), m, s.x, Options{})
		require.NoError(t, err)
		require.Equal(t, m, d.Method())
		r, err := d.Denoise(context.Background(), s.x, Options{})
		require.NoError(t, err)
		for _, row := range r.Rows {
			require.True(t, row.Unchanged || row.Neighbors == k, "%+v", row)
		}
		scores = append(scores, s.meanSquare(r.X))
	}
	require.Less(t, scores[1], scores[0])
	require.Less(t, s.score(t, Auto{Latent: 2}), 1.05*slices.Min(scores))
}

// TestUnits wants a X + b denoised to a Y + b.
func TestUnits(t *testing.T) {
	needSpeed(t)
	rng := rand.New(rand.NewPCG(308, 1))
	for _, c := range []struct {
		name string
		d    int
		x    rows.Data
	}{
		{"spiral", 1, noisyCurve(rng, 300, 2, .02, spiral).x},
		{"cube", 2, boxes(rng, []cuboid{{{0, 0, 0}, {1, 1, 1}}}, 800, .01).x},
		{"many", 2, noisy(rng, 2500, 3, .05, sphereFar, func(p []float64) { unitSphere(rng, p) }).x},
	} {
		m := Auto{Latent: c.d}
		if c.name == "many" {
			m.Neighbors = 40
		}
		want := run(t, m, c.x, Options{})
		for _, change := range []struct{ unit, origin, tolerance float64 }{{1e-6, 0, 1e-7}, {1e6, 0, 1e-7}, {1, 1e6, 1e-4}} {
			y := c.x
			y.X = make([]float64, len(c.x.X))
			for i, v := range c.x.X {
				y.X[i] = change.unit*v + change.origin
			}
			got := run(t, m, y, Options{})
			var most float64
			for i, v := range got.X {
				most = max(most, math.Abs(want.X[i]-(v-change.origin)/change.unit))
			}
			require.Less(t, most, change.tolerance, "%s, %+v", c.name, change)
		}
	}
}

// TestCancelledFit wants the error of the context soon after it is done.
func TestCancelledFit(t *testing.T) {
	s := sphereSample(309, 3000, .05)
	ctx, cancel := context.WithCancelCause(context.Background())
	calls := 0
	_, err := Fit(ctx, Auto{Latent: 2}, s.x, Options{Progress: func(float64) {
		calls++
		cancel(errors.New("enough"))
	}})
	if calls > 0 {
		require.ErrorIs(t, err, context.Canceled)
	}
	cancel(nil)
	_, err = Fit(ctx, Auto{Latent: 2}, s.x, Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// TestDegenerateRows wants rows that determine no surface, or lie on a line, left where they are.
func TestDegenerateRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(310, 1))
	equal, line, few := rows.Data{N: 50, D: 3}, rows.Data{N: 80, D: 3}, rows.Data{N: 120, D: 3}
	for range equal.N {
		equal.X = append(equal.X, 1, -2, 3)
	}
	for range line.N {
		v := rng.NormFloat64()
		line.X = append(line.X, v, 1-2*v, 3*v)
	}
	for i := range few.N {
		few.X = append(few.X, float64(i%4), float64(i%2), 1)
	}
	for _, d := range []int{1, 2} {
		for name, x := range map[string]rows.Data{"equal": equal, "line": line, "few places": few} {
			r := run(t, Auto{Latent: d}, x, Options{})
			require.InDeltaSlice(t, x.X, r.X, 1e-6, "%s, %d", name, d)
			requireFlags(t, x, r)
		}
	}
}

// TestOutliersOffAxes: outliers among wide rows neither bend charts nor decide for a linear model.
func TestOutliersOffAxes(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 11))
		const n, D, noise = 600, 20, 0.02
		x := rows.Data{N: n, D: D, X: make([]float64, n*D)}
		for i := range n {
			row := x.Row(i)
			sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
			row[0], row[1] = cos, sin
			for k := range row {
				row[k] += noise * rng.NormFloat64()
				if i%5 == 0 {
					row[k] = 3*rng.Float64() - 1.5
				}
			}
		}
		d, err := Fit(context.Background(), Auto{Latent: 1}, x, Options{})
		require.NoError(t, err)
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err)
		off := func(x []float64) (sum float64) {
			for i := range n {
				if i%5 != 0 {
					row := x[i*D : (i+1)*D]
					sum += math.Pow(math.Hypot(row[0], row[1])-1, 2) + dense.Dot(row[2:], row[2:])
				}
			}
			return sum
		}
		require.Less(t, off(r.X), 0.12*off(x.X), "seed %d: %s", seed, d.Note())
	}
}
