package chart

import "math"

// Tricube is (1-t^3)^3 for t from 0 to 1, and 0 beyond.
func Tricube(t float64) float64 {
	if !(t < 1) {
		return 0
	}
	v := 1 - t*t*t
	return v * v * v
}

// SpreadPerDirection is the standard deviation, in each of q directions, of
// residuals with a weighted sum of squares, after p functions were fitted; total
// and square are the sums of weights and of their squares.
func SpreadPerDirection(rest, total, square float64, p, q int) float64 {
	if !(total > 0) || q == 0 {
		return 0
	}
	free := 1 - float64(p)*square/(total*total)
	if !(free > 0) {
		return 0
	}
	return math.Sqrt(rest / (total * free * float64(q)))
}
