package solvers

import "math"

// nearRounding is the predicted decrease, relative to the cost, below which differences of costs are dominated
// by rounding, and costNoise the largest relative increase of the cost by rounding.
const nearRounding, costNoise = 1e-10, 1e-11

// polyak is the step after which a linear cost reaches zero, or for a cost of
// zero one of unit length.
func polyak(cost, slope float64) float64 {
	if eta := math.Abs(cost) / slope; eta > 0 && !math.IsInf(eta, 0) {
		return eta
	}
	return 1 / math.Sqrt(slope)
}
