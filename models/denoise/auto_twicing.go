package denoise

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// What is smaller than charts, a scale or a tooth, is left in the residuals of rows: those of rows near each other are then alike, and charts see more noise there than in flat
// places. The mean residual of the nearest rows, shrunk, goes back to the foot, which Tukey calls twicing (Exploratory Data Analysis, 1977, chapter 16). It is shrunk as the mean of
// a normal posterior is: what charts lack is taken for normal there, with the variance that they see beyond that of flat places.

const (
	// chanceSeen is the square of the noise that charts see about a row, in units of that in flat places, up to which it is chance.
	chanceSeen = 1.3
	// twicePart is K over the number of rows whose residuals count, of which there are from twiceLeast to twiceMost.
	twicePart, twiceLeast, twiceMost = 4.0, 6, 24
)

// twices tells whether residuals go back to feet: for the charts of a choice that may be creases, where noise is even. Else more noise may be noise.
func (s *setting) twices() bool { return s.creased && !s.uneven }

// asksNoise tells whether charts are to tell the noise that they see.
func (o *order) asksNoise() bool { return o.keep && o.setting.twices() }

// flatNoise is the noise in flat places by that which charts of about K rows see, 0 for rows without one: the flatAt quantile over that of
// residuals of even noise, or the median if that is less. It changes their order.
func flatNoise(seen []float64, K int) float64 {
	if seen = known(seen); len(seen) == 0 {
		return 0
	}
	left := float64(max(K, fewestByPlace) - chart.Quadratics(2))
	low := math.Sqrt(1 + distuv.UnitNormal.Quantile(flatAt)*math.Sqrt(2/left))
	return min(dense.Select(seen, int(flatAt*float64(len(seen))))/low, median(seen))
}

// twice finds what goes back to feet on the charts of the sites at hand, of which the row own is one, about the place w.y. It is false where rows may be elsewhere.
func (w *autoWorker) twice(own int) bool {
	clear(w.back)
	if !(w.setting.flat > 0) {
		return true
	}
	var seen float64
	for i, weight := range w.at.weights {
		ratio := w.charts[(w.at.list[i].row+1)*w.width-1] / w.setting.flat
		seen += weight * float64(ratio*ratio)
	}
	if seen <= chanceSeen {
		return true
	}
	K := float64(w.settingAt(own, w.setting).neighbors)
	found := w.rows.Search.Find(w.places.index, w.y, min(max(int(math.Round(K/twicePart)), twiceLeast), twiceMost)+1)
	if w.rows.Search.Missed {
		return false
	}
	worth, ok := w.meanResidual(w.residual, found)
	if !ok {
		return false
	}
	variance := worth * (seen - chanceSeen)
	floats.AddScaled(w.back, variance/(1+variance), w.residual)
	return true
}

// meanResidual writes the mean of the residuals of rows into dst, weighted by the tricube of the distances of their places, the last of which is where it is 0. Those that Tukey's loss
// does not count are left out. It returns how many rows of equal weight it is worth, and false where charts have no foot.
func (w *autoWorker) meanResidual(dst []float64, found []lookup.Near) (worth float64, ok bool) {
	clear(dst)
	last := math.Sqrt(found[len(found)-1].Distance)
	var total, square float64
	for _, f := range found {
		x, weight := w.cloud.Row(f.Row), w.cloud.Weight(f.Row)*chart.Tricube(math.Sqrt(f.Distance)/last)
		if weight == 0 {
			continue
		}
		if !w.blend(w.near, x) {
			return 0, false
		}
		if !(rows.Distance(x, w.near) < w.MaxNoise()) {
			continue
		}
		for j, v := range w.near {
			dst[j] += weight * (x[j] - v)
		}
		total += weight
		square += weight * weight
	}
	if total == 0 { // all places are one, or all rows far
		return 0, true
	}
	floats.Scale(1/total, dst)
	return total * total / square, true
}
