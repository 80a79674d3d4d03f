package rows

import (
	"fmt"
	"math"
	"slices"
)

// farRow is how many times as far away as the rows are from each other a row may be.
// Beyond, what sets them apart is a rounding error of the place of that row, and of
// their mean. Rows that are equal but for as small a part of themselves are equal.
const farRow = 1e13

// ValidateSpread refuses data with a row so far from the others that float64 cannot
// hold what sets these apart beside it: 10^13 times as far from a row in their middle as
// half of them are. It takes 2nD operations.
func (x Data) ValidateSpread() error {
	list := make([]int, 0, x.N)
	for i := range x.N {
		if x.Weight(i) > 0 {
			list = append(list, i)
		}
	}
	far := make([]float64, x.N)
	middle := list[0]
	for range 2 { // the row in the middle of the way to the others is not far itself
		for _, i := range list {
			far[i] = x.gap(i, middle)
		}
		slices.SortStableFunc(list, func(i, j int) int {
			switch {
			case far[i] < far[j]:
				return -1
			case far[i] > far[j]:
				return 1
			}
			return 0
		})
		middle = list[len(list)/2]
	}
	apart := slices.IndexFunc(list, func(i int) bool { return far[i] > MaxNorm(x.Row(i))/farRow })
	if apart < 0 {
		return nil
	}
	worst, half := list[len(list)-1], far[list[apart+(len(list)-apart)/2]]
	if !(far[worst] > farRow*half) {
		return nil
	}
	return fmt.Errorf("scqm: row %d is %.0e times as far away as half of the others are from each other, which leaves no digits of float64 to tell them apart; leave it out, or mark entries that are missing as such: %w", worst, far[worst]/half, ErrInput)
}

// gap returns the largest difference between the entries of two rows that both have.
func (x Data) gap(i, j int) float64 {
	var gap float64
	other := x.Row(j)
	for k, v := range x.Row(i) {
		if d := math.Abs(v - other[k]); d > gap {
			gap = d
		}
	}
	return gap
}
