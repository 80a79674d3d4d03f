package principal

import (
	"math"
	"slices"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"gonum.org/v1/gonum/stat/distuv"
)

// columnNoise is the variance of the noise by the columns that vary least, and its standard error. What rows vary by adds to
// the noise of a column, so that the least is nearest: images have columns of background. The variance at the
// quantile q of all columns is that at the quantile q/p of the variances of noise alone, chi-squared over n,
// for the part p of the columns that vary no more than chance allows. Columns that do not vary at all are not counted.
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

// quietest is the variance of the noise by the columns that vary least, where these say for certain that it is less
// than the variance given, and what rows are off the plane p by is no noise that differs by column: columns
// are correlated then.
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

// columnVariances are the weighted mean squares of the columns of n rows off a centre.
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
