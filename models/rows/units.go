package rows

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
)

// farUnits bounds the binary exponent of the size of the data: between 2^-100 and 2^100,
// products of a few such sizes and their inverses, as in second derivatives, neither
// overflow nor vanish.
const farUnits = 100

// maxExponent is the exponent of the largest power of two in float64.
const maxExponent = 1023

// WorkingUnit returns a power of two by which to divide data so that their size is about
// 1. If their size is within the bounds of farUnits, it returns 1. The division is exact.
func WorkingUnit(x Data) float64 { return UnitOf(x.Size()) }

// UnitOf returns a power of two by which to divide numbers of the given size to make them
// about 1. It returns 1 if the size is 0 or within the bounds of farUnits.
func UnitOf(size float64) float64 {
	if !(size > 0) || math.IsInf(size, 0) {
		return 1
	}
	if _, exponent := math.Frexp(size); exponent < -farUnits || exponent > farUnits {
		return math.Ldexp(1, min(exponent, maxExponent)) // 2^1024 is no number
	}
	return 1
}

// ValidateSize returns an error for sizes above 2^100 or below 2^-100: products of a few of them overflow or vanish.
func ValidateSize(size float64) error {
	if UnitOf(size) == 1 && !math.IsInf(size, 0) {
		return nil
	}
	return fmt.Errorf("scqm: the rows are about %.0e in size, beyond 2^100 or below 2^-100; divide all columns by that: %w", size, ErrInput)
}

// Size is the largest difference between an entry and that of the first row, over rows of nonzero weight.
func (x Data) Size() float64 {
	if x.Missing {
		x = filledBy(x, firstObserved(x))
	}
	var size float64
	var first []float64
	for i := range x.N {
		if x.Weight(i) == 0 {
			continue
		}
		if first == nil {
			first = x.Row(i)
		}
		size = max(size, dense.Farthest(x.Row(i), first))
	}
	return size
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

// Rescaled returns the loss for data divided by unit, and the factor by which losses of
// the original data are larger. ok is false if the loss cannot be rescaled.
func Rescaled(loss framework.Loss, unit float64) (rescaled framework.Loss, factor float64, ok bool) {
	l, ok := loss.(rowloss.Rescaler)
	if !ok {
		return loss, 1, false
	}
	rescaled, factor = l.Rescale(unit)
	return rescaled, factor, true
}

// CheckSums returns an error if the sum of the losses of the data around their mean,
// divided by unit and multiplied by factor, overflows or loses digits. No fit has a larger
// sum, so later sums are safe too.
func CheckSums(x Data, loss framework.Loss, unit, factor float64) error {
	const minNormal = 0x1p-1022
	mean, r := Mean(x), make([]float64, x.D)
	var value [1]float64
	var sum float64
	for i := range x.N {
		floats.SubTo(r, x.Row(i), mean)
		for k, v := range r {
			if x.Missing && math.IsNaN(v) {
				r[k] = 0
			}
		}
		if err := loss.Evaluate(value[:], nil, r, x.D); err != nil {
			return err
		}
		sum += x.Weight(i) * value[0]
	}
	total := sum * factor
	if sum == 0 || total >= minNormal && !math.IsInf(total, 0) {
		return nil
	}
	size := "large"
	if total < minNormal {
		size = "small"
	}
	return fmt.Errorf("scqm: the data are about %.0e in size, where the sum of their losses %s is too %s for float64; rescale them, as by dividing all columns by %.0e: %w", unit, loss.Name(), size, unit, ErrInput)
}

// Product multiplies numbers whose partial products may overflow or underflow. If the
// product itself overflows, it returns the largest float64.
func Product(numbers ...float64) float64 {
	product, exponent := 1.0, 0
	for _, v := range numbers {
		fraction, by := math.Frexp(v)
		product *= fraction
		exponent += by
	}
	return max(min(math.Ldexp(product, exponent), math.MaxFloat64), -math.MaxFloat64)
}
