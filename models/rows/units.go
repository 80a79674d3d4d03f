package rows

import (
	"math"
)

// farUnits is the number of binary digits by which the size of the data may
// differ from 1. Products of a few such sizes and their inverses, as in second
// derivatives, neither overflow nor vanish.
const farUnits = 100

// WorkingUnit returns the power of two in units of which data are about 1, or 1
// where they are not far from that. Dividing by it rounds nothing.
func WorkingUnit(x Data) float64 {
	var size float64
	first := x.Row(0)
	for i := range x.N {
		for j, v := range x.Row(i) {
			size = math.Max(size, math.Abs(v-first[j]))
		}
	}
	if size == 0 || math.IsInf(size, 0) {
		return 1
	}
	if _, exponent := math.Frexp(size); exponent < -farUnits || exponent > farUnits {
		return math.Ldexp(1, exponent)
	}
	return 1
}

// InUnits returns the data divided by a unit.
func (x Data) InUnits(unit float64) Data {
	scaled := x
	scaled.X = make([]float64, len(x.X))
	for i, v := range x.X {
		scaled.X[i] = v / unit
	}
	return scaled
}
