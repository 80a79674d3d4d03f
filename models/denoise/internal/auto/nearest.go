package auto

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// A surface that is as thin as its rows are far apart, such as the legs of a chair of few rows, looks to every chart like one with noise. The nearest rows tell
// the two apart: within the noise they lie on all sides of each other, and their numbers grow with the distance r as r^D; on a surface as r^d. Of r_1 to r_k,
// the distances of the k nearest rows, the sum of log(r_k/r_j) is (k-1)/m in the mean where numbers grow as r^m, with the variance (k-1)/m^2.
//
// Source: E. Levina, P. J. Bickel, Maximum likelihood estimation of intrinsic dimension, NIPS 17 (2004).

const (
	// nearestRows is k, nearestMiddle the middle of the distances in units of the last.
	nearestRows, nearestMiddle = 4, 0.85
	// refuted is the number of standard errors by which the noise is refuted. Growth by twice what chance makes counts as one.
	refuted = 2
	// chiQuantiles is the number of quantiles by which means over noise are taken, dimensionStep the factor between the distances that numbers are compared at.
	chiQuantiles, dimensionStep = 64, 1.2
)

// nearestRefute returns the number of standard errors by which nearest rows refute the noise that charts about the places see.
func (l *ladder) nearestRefute(noise []float64) (float64, error) {
	d, q := float64(l.method.Latent), l.q
	squares := make([]float64, chiQuantiles)
	for k, chi := 0, (distuv.ChiSquared{K: q}); k < chiQuantiles; k++ {
		squares[k] = chi.Quantile((float64(k) + .5) / chiQuantiles)
	}
	sums, n := make([]float64, len(l.rows)), make([]float64, len(l.rows))
	err := l.each(l.rows, func(w *worker, j, i int) {
		found := w.rows.Search.Find(l.cloud.Index, l.cloud.Row(i), nearestRows+1)
		if len(found) <= nearestRows || !(found[1].Distance > 0) || !(noise[j] > 0) {
			return
		}
		last := found[nearestRows].Distance
		for _, f := range found[1:nearestRows] {
			sums[j] += math.Log(last/f.Distance) / 2
		}
		sums[j] *= growthOfNumbers(nearestMiddle*math.Sqrt(last)/noise[j], d, q, squares)
		n[j] = nearestRows - 1
	})
	many := floats.Sum(n)
	return (floats.Sum(sums) - many) / math.Sqrt(max(many, 1)), err
}

// growthOfNumbers is the exponent m with which the number of rows grows with the distance, at that in units of the noise. Two rows are apart
// by twice the variance of the noise in q directions, whose square has the quantiles given, and rows are even along the surface.
func growthOfNumbers(distance, d, q float64, squares []float64) float64 {
	number := func(distance float64) (sum float64) {
		for _, square := range squares {
			if left := distance*distance/2 - square; left > 0 {
				sum += math.Pow(left, d/2)
			}
		}
		return sum
	}
	low := number(distance / dimensionStep)
	if low == 0 {
		return d + q
	}
	return min(math.Log(number(distance*dimensionStep)/low)/(2*math.Log(dimensionStep)), d+q)
}
