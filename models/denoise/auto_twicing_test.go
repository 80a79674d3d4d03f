package denoise

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// studdedRows are rows of a flat sheet with 100 studs smaller than charts are, and what the surface is at a point; on says which are on studs.
func studdedRows(seed uint64, n int) (x rows.Data, height func(p []float64) float64, on []bool) {
	const high, wide, apart = .06, .022, .2
	rng := rand.New(rand.NewPCG(seed, 84))
	middle := func(v float64) float64 { return math.Round(v/apart-.5)*apart + .5*apart }
	height = func(p []float64) float64 {
		a, b := p[0]-middle(p[0]), p[1]-middle(p[1])
		return high * math.Exp(-(a*a+b*b)/(2*wide*wide))
	}
	x = rows.Data{N: n, D: 3}
	for range n {
		p := []float64{2*rng.Float64() - 1, 2*rng.Float64() - 1, 0}
		p[2] = height(p)
		on = append(on, p[2] > .1*high)
		for _, v := range p {
			x.X = append(x.X, v+.012*rng.NormFloat64())
		}
	}
	return x, height, on
}

// TestTwicing wants what goes back to feet to bring rows on studs nearer to these, and to leave most others as they are; the same in tiles.
func TestTwicing(t *testing.T) {
	needSpeed(t)
	x, height, on := studdedRows(1, 2*fewRows)
	d, s := fitAuto(t, x)
	require.Positive(t, s.flat)
	r, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	d.prepared.Fitted.(*autoFit).setting.flat = 0
	before, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	var squares [2]float64
	var moved, many [2]int
	for i, onStud := range on {
		k := 0
		if onStud {
			k = 1
			for l, r := range []*Result{before, r} {
				off := r.X[3*i+2] - height(r.X[3*i:])
				squares[l] += off * off
			}
		}
		many[k]++
		if rows.Distance(r.X[3*i:3*i+3], before.X[3*i:3*i+3]) > 0 {
			moved[k]++
		}
	}
	require.Less(t, squares[1], .95*squares[0])
	require.Less(t, 2*moved[0]*many[1], moved[1]*many[0])
	require.Less(t, moved[0], many[0]/5)
	requireSameInTiles(t, Auto{Latent: 2}, x, 3, .02, r)
}

// goesBack is what is to go back to feet about the place at, by all rows that have one. The sites are at hand.
func goesBack(w *autoWorker, own int, at []float64) (back []float64) {
	back = make([]float64, 3)
	var seen float64
	for k, s := range w.at.list {
		ratio := w.charts[(s.row+1)*w.width-1] / w.setting.flat
		seen += w.at.weights[k] * ratio * ratio
	}
	if seen <= chanceSeen {
		return back
	}
	far := func(i int) float64 { return rows.Distance(w.places.y[3*i:3*i+3], at) }
	nearest := slices.SortedFunc(slices.Values(w.cloud.Used), func(i, j int) int { return cmp.Compare(far(i), far(j)) })
	K := w.settingAt(own, w.setting).neighbors
	nearest = nearest[:min(max((K+2)/4, twiceLeast), twiceMost)+1]
	var total, square float64
	foot := make([]float64, 3)
	for _, i := range nearest {
		mean := make([]float64, 3)
		for k, s := range w.at.list {
			if w.load(s.row) && w.at.weights[k] > 0 && w.chart.Foot(foot, w.cloud.Row(i)) {
				for j, v := range foot {
					mean[j] += w.at.weights[k] * v
				}
			}
		}
		if rows.Distance(mean, w.cloud.Row(i)) >= w.tune.cut*w.settingAt(own, w.setting).Scale {
			continue
		}
		weight := w.cloud.Weight(i) * chart.Tricube(far(i)/far(nearest[len(nearest)-1]))
		for j, v := range mean {
			back[j] += weight * (w.cloud.Row(i)[j] - v)
		}
		total += weight
		square += weight * weight
	}
	variance := total * total / square * (seen - chanceSeen)
	for j := range back {
		back[j] *= variance / (1 + variance) / total
	}
	return back
}

// TestWhatGoesBack wants the mean residual of the nearest rows, shrunk by how much more noise charts see than in flat places, to go back to feet, of rows of other weights and of points that
// are no rows too, by as many rows as K, given or chosen, asks for within bounds.
func TestWhatGoesBack(t *testing.T) {
	needSpeed(t)
	x, _, _ := studdedRows(2, fewRows+500)
	for i := range x.N {
		x.Weights = append(x.Weights, 1+float64(i%3))
	}
	points := rows.Data{N: 300, D: 3, X: slices.Clone(x.X[:900])}
	for i := 450; i < 900; i++ {
		points.X[i] += .003
	}
	for _, K := range []int{0, 16, 200} {
		d, err := Fit(context.Background(), Auto{Latent: 2, Neighbors: K}, x, Options{})
		require.NoError(t, err)
		a := d.prepared.Fitted.(*autoFit)
		var seen []float64
		for i := range x.N {
			seen = append(seen, a.charts[(i+1)*a.chartWidth()-1])
		}
		require.Equal(t, flatNoise(seen, a.setting.neighbors), a.setting.flat)
		with, err := d.Denoise(context.Background(), points, Options{})
		require.NoError(t, err)
		moved := 0
		for i := range points.N {
			foot, back := footWithBack(t, a, points, i, i < 150)
			require.InDeltaSlice(t, foot, with.X[3*i:3*i+3], 1e-10)
			if back != [3]float64{} {
				moved++
			}
		}
		require.Greater(t, moved, 10)
		require.Less(t, moved, 280)
	}
}

// footWithBack is where point i, which may be row i, is to go, and what of that has gone back.
func footWithBack(t *testing.T, a *autoFit, points rows.Data, i int, isRow bool) (foot []float64, back [3]float64) {
	w, at := newAutoWorker(a), i
	if !isRow {
		at = w.rows.Search.Find(w.places.index, points.Row(i), 1)[0].Row
	}
	y := slices.Clone(a.places.y[3*at : 3*at+3])
	own, ok := w.nearestChart(at, y)
	require.True(t, ok && w.load(own))
	if !isRow || own != i {
		require.True(t, w.chart.Foot(y, points.Row(i)))
	}
	w.at = w.findSites(own)
	w.at.weigh(y)
	copy(back[:], goesBack(w, own, y))
	foot = make([]float64, 3)
	require.True(t, w.blend(foot, points.Row(i)))
	for j := range foot {
		foot[j] += back[j]
	}
	return foot, back
}

// TestNoResiduals wants no mean of residuals where all places are one.
func TestNoResiduals(t *testing.T) {
	needSpeed(t)
	d, _ := fitAuto(t, bentSheet(1, fewRows+1))
	w := newAutoWorker(d.prepared.Fitted.(*autoFit))
	w.at, w.noise = w.findSites(0), 1
	mean := []float64{1, 2, 3}
	worth, ok := w.meanResidual(mean, []lookup.Near{{Row: 0}, {Row: 1}})
	require.True(t, ok)
	require.Zero(t, worth)
	require.Equal(t, make([]float64, 3), mean)
}

// TestFlatNoise wants the noise of flat places to be told from that which charts of K rows see, though they see more in a third of the places.
func TestFlatNoise(t *testing.T) {
	const n, noise = 20000, .3
	rng := rand.New(rand.NewPCG(5, 85))
	for _, K := range []int{24, 36, 81, 273} {
		chi := distuv.ChiSquared{K: float64(K - chart.Quadratics(2)), Src: rng}
		seen := make([]float64, n)
		for i := range seen {
			seen[i] = noise * math.Sqrt(chi.Rand()/chi.K)
		}
		require.InEpsilon(t, noise, flatNoise(slices.Clone(seen), K), .02)
		for i := range n / 3 {
			seen[i] *= 2
		}
		require.InEpsilon(t, noise, flatNoise(slices.Clone(seen), K), .12)
	}
	few := []float64{0, 1, 2, 3, 0, 4, 5}
	require.Equal(t, 1/math.Sqrt(1-1.2815515655446004*math.Sqrt(2./18)), flatNoise(slices.Clone(few), 3), "of few rows, and of those with charts")
	require.Equal(t, 2., flatNoise([]float64{2, 2, 2}, 24), "no more than the median")
	require.Zero(t, flatNoise([]float64{0, 0}, 100))
}

// TestNothingGoesBack wants nothing to go back where noise is uneven, charts are no creases, or residuals are alike by chance only.
func TestNothingGoesBack(t *testing.T) {
	require.True(t, (&setting{creased: true}).twices())
	require.False(t, (&setting{creased: true, uneven: true}).twices())
	require.False(t, (&setting{}).twices())
	require.True(t, (&order{keep: true, setting: setting{creased: true}}).asksNoise())
	require.False(t, (&order{setting: setting{creased: true}}).asksNoise())
	needSpeed(t)
	x, _, _ := studdedRows(3, fewRows)
	_, s := fitAuto(t, x)
	require.Zero(t, s.flat, "few rows")
	x = bentSheet(2, 2*fewRows)
	d, s := fitAuto(t, x)
	require.Positive(t, s.flat)
	with, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	d.prepared.Fitted.(*autoFit).setting.flat = 0
	without, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	moved := 0
	for i := range x.N {
		if rows.Distance(with.X[3*i:3*i+3], without.X[3*i:3*i+3]) > 0 {
			moved++
		}
	}
	require.Less(t, moved, x.N/100)
}
