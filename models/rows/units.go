package rows

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
)

// farUnits is the number of binary digits by which the size of the data may
// differ from 1. Products of a few such sizes and their inverses, as in second
// derivatives, neither overflow nor vanish.
const farUnits = 100

// maxExponent is that of the largest power of two.
const maxExponent = 1023

// WorkingUnit returns the power of two in units of which data are about 1, or 1
// where they are not far from that. Dividing by it rounds nothing.
func WorkingUnit(x Data) float64 { return UnitOf(x.Size()) }

// UnitOf returns the power of two in units of which numbers of a size are about 1,
// or 1 where they are not far from that, or are all 0.
func UnitOf(size float64) float64 {
	if !(size > 0) || math.IsInf(size, 0) {
		return 1
	}
	if _, exponent := math.Frexp(size); exponent < -farUnits || exponent > farUnits {
		return math.Ldexp(1, min(exponent, maxExponent)) // 2^1024 is no number
	}
	return 1
}

// ValidateSize refuses rows of a size beyond 2^100 or below 2^-100: products of a few such sizes overflow or vanish.
func ValidateSize(size float64) error {
	if UnitOf(size) == 1 && !math.IsInf(size, 0) {
		return nil
	}
	return fmt.Errorf("scqm: the rows are about %.0e in size, beyond 2^100 or below 2^-100; divide all columns by that: %w", size, ErrInput)
}

// Size is the largest difference of an entry of a row that has weight from that of the first such row.
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

// Rescaled returns the loss for data divided by a unit, and the factor by which
// their losses are larger. It reports false for losses that cannot be rescaled.
func Rescaled(loss framework.Loss, unit float64) (rescaled framework.Loss, factor float64, ok bool) {
	l, ok := loss.(rowloss.Rescaler)
	if !ok {
		return loss, 1, false
	}
	rescaled, factor = l.Rescale(unit)
	return rescaled, factor, true
}

// CheckSums refuses data, divided by a unit, whose losses around their mean, with
// the factor, do not add up to a number that float64 holds with all of its digits.
// A fit has no larger sum than that, so that what passes will not overflow later.
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

// Product multiplies numbers whose partial products may be beyond those that
// float64 holds. Where the product is, it is the largest one.
func Product(numbers ...float64) float64 {
	product, exponent := 1.0, 0
	for _, v := range numbers {
		fraction, by := math.Frexp(v)
		product *= fraction
		exponent += by
	}
	return max(min(math.Ldexp(product, exponent), math.MaxFloat64), -math.MaxFloat64)
}
