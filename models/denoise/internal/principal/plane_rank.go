package principal

import (
	"math"

	"github.com/scqm/scqm/models/denoise/internal/chart"
)

// noiseRank returns the number of principal axes that exceed the noise, and the variance of the noise in each
// direction. It gets the largest eigenvalues of the covariance of n rows of length D, descending, and the sum of all.
// Axis k is significant if its eigenvalue exceeds the largest eigenvalue of noise with the mean variance of the rest.
// No axes need to be free of the surface. It returns false if all given eigenvalues are significant.
//
// Source: S. Kritchman, B. Nadler, Determining the number of components in a factor
// model from limited noisy data, Chemometrics and Intelligent Laboratory Systems 94 (2008).
func noiseRank(values []float64, total, n float64, D int) (rank int, variance float64, ok bool) {
	left := total
	for k, v := range values {
		if float64(k)+1 >= n || k == D-1 {
			break
		}
		variance = tailVariance(values[:k], left, n, D)
		if variance <= chart.Rounding*total || v <= variance*largestOfNoise(n, float64(D-k)) {
			return k, max(variance, 0), true
		}
		left -= v
	}
	return 0, 0, false
}

// tailVariance estimates the noise by the sum of the other eigenvalues, corrected for the noise in the eigenvalues of
// the axes.
func tailVariance(axes []float64, left, n float64, D int) float64 {
	rest := float64(D - len(axes))
	variance := left / rest
	for range 20 {
		more := left
		for _, v := range axes {
			b := v + variance - variance*rest/n
			more += v - (b+math.Sqrt(max(b*b-4*v*variance, 0)))/2
		}
		before := variance
		variance = more / rest
		if math.Abs(variance-before) <= 1e-9*before {
			break
		}
	}
	return variance
}

// largestOfNoise is a bound that the largest eigenvalue of the covariance of n rows of unit noise of length q rarely
// exceeds.
//
// Source: I. Johnstone, On the distribution of the largest eigenvalue in principal
// components analysis, Annals of Statistics 29 (2001).
func largestOfNoise(n, q float64) float64 {
	a, b := math.Sqrt(n-0.5), math.Sqrt(q-0.5)
	// The quantile of the Tracy-Widom law of real matrices at 99.5 %: one matrix of noise in 200 has an eigenvalue so many standard deviations above its middle.
	return (a + b) * (a + b + 2.42*math.Cbrt(1/a+1/b)) / n
}

// shrinkage is the factor of the coordinates along an axis with the least mean squared error. The variance along the
// axis is in units of that of the noise.
//
// Source: M. Gavish, D. Donoho, Optimal shrinkage of singular values, IEEE Transactions
// on Information Theory 63 (2017).
func axisGain(ratio, n float64, D int) float64 {
	small, large := min(n, float64(D)), max(n, float64(D))
	beta := small / large
	square := ratio * n / large // of the singular value
	if !(square > (1+math.Sqrt(beta))*(1+math.Sqrt(beta))) {
		return 0
	}
	if math.IsInf(square, 1) {
		return 1
	}
	c := square - beta - 1
	return math.Sqrt(max(c*c-4*beta, 0)) / square
}
