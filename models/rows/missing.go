package rows

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Entries that are missing are NaN in X, and nowhere else: whatever is computed
// from one is NaN again, up to the residual, to which the loss gives no weight
// (losses.IgnoreMissing). A mask beside the numbers would have to follow them
// through every selection, order and batch.

// ObservedOnly returns x, with Missing set only if entries are missing. Complete data are then treated as if Missing
// had not been requested.
func (x Data) ObservedOnly() Data {
	x.Missing = x.Missing && slices.ContainsFunc(x.X, math.IsNaN)
	return x
}

// Incomplete reports whether entries of a row are missing.
func Incomplete(row []float64) bool { return slices.ContainsFunc(row, math.IsNaN) }

// NoneObserved reports whether all entries of a row are missing.
func NoneObserved(row []float64) bool {
	return !slices.ContainsFunc(row, func(v float64) bool { return v == v })
}

// Observed returns the number of entries that are not missing.
func (x Data) Observed() int {
	count := len(x.X)
	if x.Missing {
		for _, v := range x.X {
			if v != v {
				count--
			}
		}
	}
	return count
}

// Norm returns the Euclidean norm of the entries of a row that are not missing.
func Norm(row []float64) float64 {
	length := floats.Norm(row, 2)
	if !math.IsNaN(length) {
		return length
	}
	length = 0
	for _, v := range row {
		if v == v {
			length = math.Hypot(length, v)
		}
	}
	return length
}

// MaxNorm returns the largest magnitude of the entries of a row that are not missing.
func MaxNorm(row []float64) float64 {
	var size float64
	for _, v := range row {
		if v = math.Abs(v); v > size {
			size = v
		}
	}
	return size
}

// firstObserved returns the first entry of every column that is not missing, in
// rows that have weight; NaN where there is none.
func firstObserved(x Data) []float64 {
	first := make([]float64, x.D)
	floats.AddConst(math.NaN(), first)
	for i := range x.N {
		if !(x.Weight(i) > 0) {
			continue
		}
		for j, v := range x.Row(i) {
			if first[j] != first[j] {
				first[j] = v
			}
		}
	}
	return first
}

// filledBy returns the data with missing entries replaced by those of a row, or by 0 if the row lacks them too.
func filledBy(x Data, by []float64) Data {
	y := x
	y.Missing, y.X = false, slices.Clone(x.X)
	for k, v := range y.X {
		if v == v {
			continue
		}
		y.X[k] = by[k%x.D]
		if v = y.X[k]; v != v {
			y.X[k] = 0
		}
	}
	return y
}
