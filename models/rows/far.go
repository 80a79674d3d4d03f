package rows

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// farRow bounds the distance of a row from the others, in units of their distances from each other.
// Beyond it, differences of the others are smaller than the rounding errors of the distant row and of
// the mean. Rows whose relative differences are that small count as equal.
const farRow = 1e13

// ValidateSpread returns an error if a row is too distant for float64 to resolve the others: farther
// from a middle row than 10^13 times the median distance. It takes 2nD operations.
func (x Data) ValidateSpread() error {
	_, half, worst, far := x.Gaps()
	if !(far > farRow*half) {
		return nil
	}
	return FarRow(worst, far, half)
}

// FarRow returns the error for a row too far from the others.
func FarRow(row int, far, half float64) error {
	return fmt.Errorf("scqm: row %d is %.0e times as far away as half of the others are from each other, which leaves no digits of float64 to tell them apart; leave it out, or mark entries that are missing as such: %w", row, far/half, ErrInput)
}

// TooFar returns the largest accepted distance from the middle row. half is the median of
// such distances, without those at the level of rounding errors.
func TooFar(half float64) float64 { return farRow * half }

// Gaps returns the index of a middle row and the median of the distances from it, without those at the level of
// rounding errors; it is infinite if there are none. It also returns the farthest row and its distance.
func (x Data) Gaps() (middle int, half float64, worst int, most float64) {
	far := make([]float64, x.N)
	count, apart := 0, -1
	middle = -1
	for i := range x.N {
		if x.Weight(i) > 0 {
			count++
			if middle < 0 {
				middle = i
			}
		}
	}
	for range 2 { // the row in the middle of the way to the others is not far itself
		for i := range far {
			far[i] = math.NaN() // rows without weight come last
			if x.Weight(i) > 0 {
				far[i] = x.gap(i, middle)
			}
		}
		middle = ranked(far, count/2)
	}
	// The row that is least far of those that are set apart by more than rounding.
	for i, d := range far {
		if !(x.Weight(i) > 0) {
			continue
		}
		if !(x.Weight(worst) > 0) || d >= far[worst] {
			worst = i
		}
		if (apart < 0 || d < far[apart]) && d > MaxNorm(x.Row(i))/farRow {
			apart = i
		}
	}
	if apart < 0 {
		return middle, math.Inf(1), worst, far[worst]
	}
	before := 0
	for i, d := range far {
		if d < far[apart] || d == far[apart] && i < apart {
			before++
		}
	}
	return middle, far[ranked(far, before+(count-before)/2)], worst, far[worst]
}

// gap returns the largest difference between entries that are present in both rows.
func (x Data) gap(i, j int) float64 { return dense.Farthest(x.Row(i), x.Row(j)) }

// ranked returns the index of the number at position place, from 0, in ascending order;
// equal numbers keep their order. x must be at least 0, so that their bits have the same
// order, and is searched 8 bits at a time. Few numbers are copied and selected instead.
// NaN come last, and must not be at place.
func ranked(x []float64, place int) int {
	if len(x) <= fewRanked {
		return rankedFew(x, place)
	}
	const digit = 8
	var counts [1 << digit]int
	var prefix uint64
	for shift := 64 - digit; shift >= 0; shift -= digit {
		clear(counts[:])
		for _, v := range x {
			if b := math.Float64bits(v); b>>(shift+digit) == prefix {
				counts[b>>shift&(1<<digit-1)]++
			}
		}
		at := 0
		for ; place >= counts[at]; at++ {
			place -= counts[at]
		}
		prefix = prefix<<digit | uint64(at)
	}
	return occurrence(x, math.Float64frombits(prefix), place)
}

// fewRanked is the length up to which numbers are copied to the stack.
const fewRanked = 64

// rankedFew is ranked for a few numbers.
func rankedFew(x []float64, place int) int {
	var copied [fewRanked]float64
	some := copied[:0]
	for _, v := range x {
		if v == v {
			some = append(some, v)
		}
	}
	if place >= len(some) {
		return len(x) - 1
	}
	value := dense.Select(some, place)
	for _, v := range x {
		if v < value {
			place--
		}
	}
	return occurrence(x, value, place)
}

// occurrence returns the index of occurrence count of a value, or of its last one.
func occurrence(x []float64, value float64, count int) int {
	for i, v := range x {
		if v == value {
			if count == 0 {
				return i
			}
			count--
		}
	}
	return len(x) - 1
}
