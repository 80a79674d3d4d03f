package denoise

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/rows"
)

// sitesOf lists the sites of a row as they are to be, and the distance from which on they do not count.
func sitesOf(a *autoFit, w *autoWorker, own int) (want []site, far float64) {
	far, of := 0., w.settingAt(own, a.setting)
	distance := func(i int) float64 { return rows.Distance(a.places.y[3*i:3*i+3], a.places.y[3*own:3*own+3]) }
	charted := slices.DeleteFunc(slices.Clone(a.cloud.Used), func(i int) bool { return !w.hasChart(i) })
	slices.SortFunc(charted, func(i, j int) int { return cmp.Compare(distance(i), distance(j)) })
	var sum float64
	for _, i := range charted {
		if sum <= float64(of.blended()) {
			far = distance(i)
		}
		stands := a.setting.standsFor(a.about, i)
		if i == own || w.chart.Beside(a.places.y[3*i:3*i+3]) <= ownSide*of.Scale {
			many := w.settingAt(i, a.setting).neighbors
			want = append(want, site{i, stands * a.setting.faith(many, a.charts[(i+1)*w.width-1])})
		}
		if sum += stands; sum > sitesBeyond*float64(of.blended()) {
			break
		}
	}
	return want, far
}

// TestSites wants the sites of a row to be the rows with charts near it that are on the side of its chart and stand for half as many rows again as a foot is the mean of, and
// their weights for a row beside it to go by the place of that.
func TestSites(t *testing.T) {
	needSpeed(t)
	x := bentSheet(1, 2*fewRows)
	d, _ := fitAuto(t, x)
	a := d.prepared.Fitted.(*autoFit)
	require.NotNil(t, a.places.charted)
	w, place := newAutoWorker(a), func(i int) []float64 { return a.places.y[3*i : 3*i+3] }
	tried := 0
	for own := 0; own < x.N; own += 20 {
		if !w.hasChart(own) {
			continue
		}
		require.True(t, w.load(own))
		want, far := sitesOf(a, w, own)
		got := w.findSites(own)
		require.NotNil(t, got)
		require.Equal(t, want, got.list)
		require.InEpsilon(t, far, got.far, 1e-12)
		require.Same(t, got, w.findSites(own), "it is kept")

		near := place(want[1].row)
		weights := make([]float64, len(want))
		for i, s := range want {
			weights[i] = s.count * chart.Tricube(rows.Distance(place(s.row), near)/far)
		}
		floats.Scale(1/floats.Sum(weights), weights)
		got.weigh(near)
		require.InDeltaSlice(t, weights, got.weights, 1e-12)

		got.weigh([]float64{1e9, 0, 0})
		for i, s := range got.list {
			require.Equal(t, s.row == own, got.weights[i] == 1, "the place is far from all")
		}
		tried++
	}
	require.Greater(t, tried, 20)
}

// TestStandIns wants rows for which the charts of others stand in to be denoised as any other point there: by the foot on the nearest chart, and the sites of that.
func TestStandIns(t *testing.T) {
	needSpeed(t)
	x := bentSheet(1, 2*fewRows)
	d, _ := fitAuto(t, x)
	a := d.prepared.Fitted.(*autoFit)
	w, foot := newAutoWorker(a), make([]float64, 3)
	r, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	some := 0
	for i := 0; i < x.N; i += 7 {
		if w.hasChart(i) {
			continue
		}
		own, ok := w.nearestChart(i, a.places.y[3*i:3*i+3])
		require.True(t, ok && w.load(own) && w.chart.Foot(foot, x.Row(i)))
		w.at = w.findSites(own)
		w.at.weigh(foot)
		copy(w.y, foot)
		w.noise = w.settingAt(i, w.setting).Scale
		require.True(t, w.twice(own))
		require.True(t, w.blend(foot, x.Row(i)))
		require.InDeltaSlice(t, foot, r.X[3*i:3*i+3], 1e-12)
		some++
	}
	require.Greater(t, some, 50)
}
