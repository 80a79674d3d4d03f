package principal

import (
	"math"
	"slices"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"gonum.org/v1/gonum/stat/distuv"
)

// columnNoise estimates the variance of the noise from the columns of least variance, with a standard error. Signal
// adds to the variance of a column, so the least variances are closest to the noise; images have columns of
// background. With p the fraction of columns that vary no more than chance allows, the variance at the quantile q of
// all columns is that at the quantile q/p of noise alone, chi-squared over n. Constant columns are ignored.
func columnNoise(values []float64, n float64) (variance, chance float64) {
	v := slices.Clone(values)
	slices.Sort(v)
	for len(v) > 0 && !(v[0] > chart.Rounding*v[len(v)-1]) {
		v = v[1:]
	}
	if len(v) < WideColumns {
		return 0, math.Inf(1)
	}
	columns, deviation := float64(len(v)), math.Sqrt(2/n)
	chi := distuv.ChiSquared{K: n}
	at, part := v[int(quiet*columns)], 1.0
	for range 10 {
		variance = at / chi.Quantile(min(quiet/part, 0.5)) * n
		within, _ := slices.BinarySearch(v, variance*(1+surely*deviation))
		part = max(float64(within)/columns/distuv.UnitNormal.CDF(surely), quiet)
	}
	density := distuv.UnitNormal.Prob(distuv.UnitNormal.Quantile(quiet))
	return variance, variance * deviation * math.Sqrt(quiet*(1-quiet)/columns) / density
}

// quietest returns the variance of the noise by the columns of least variance, if it is significantly less than the
// given one and the deviations of rows from the plane p are not noise that differs by column: then columns are
// correlated.
func (f *linearSearch) quietest(p *Plane, variance float64) float64 {
	if p == nil || p.D-p.R < 2 {
		return variance
	}
	all := f.x
	all.Weights = f.kept
	found, chance := columnNoise(columnVariances(p.Centre, func(i int) (float64, []float64) { return f.kept[i], f.x.Row(i) }, f.x.N), effective(all))
	if !(found+beyondChance*chance < variance) {
		return variance
	}
	rest, z := make([]float64, p.D), make([]float64, p.R)
	scale := columnVariances(make([]float64, p.D), func(i int) (float64, []float64) {
		p.split(z, rest, f.x.Row(i))
		return f.kept[i], rest
	}, f.x.N)
	for j, v := range scale {
		if scale[j] = 0; v > chart.Rounding*variance {
			scale[j] = 1 / math.Sqrt(v)
		}
	}
	if p.evenDirections(&planeFit{x: f.x}, positive(f.kept), scale) {
		return variance
	}
	return found
}

// columnVariances returns the weighted mean squares of the columns of n rows minus a centre.
func columnVariances(centre []float64, row func(i int) (weight float64, x []float64), n int) []float64 {
	v := make([]float64, len(centre))
	var sum float64
	for i := range n {
		w, x := row(i)
		sum += w
		for j, u := range x {
			v[j] += w * (u - centre[j]) * (u - centre[j])
		}
	}
	for j := range v {
		v[j] /= sum
	}
	return v
}
