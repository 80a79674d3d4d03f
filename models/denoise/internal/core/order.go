package core

import (
	"cmp"
	"math"
	"slices"

	"github.com/scqm/scqm/models/rows"
)

// Shuffled returns the distinct rows of x of positive weight, ordered by a hash of their positions. This order
// determines samples, random signs and ties of distances. No result therefore depends on the order of x, nor on the
// unit and the origin of its columns.
func Shuffled(x rows.Data) rows.Data {
	x = rows.Distinct(x)
	var order []int
	for i := range x.N {
		if x.Weight(i) > 0 {
			order = append(order, i)
		}
	}
	if order == nil {
		return x
	}
	centre, unit := middle(x, order)
	hashes := make([]uint64, x.N)
	for _, i := range order {
		hashes[i] = hashOf(x.Row(i), centre, unit)
	}
	slices.SortFunc(order, func(i, j int) int {
		if hashes[i] != hashes[j] {
			return cmp.Compare(hashes[i], hashes[j])
		}
		return slices.Compare(x.Row(i), x.Row(j))
	})
	return x.Select(order)
}

// middle returns the medians of the columns of some rows, and the largest median distance from them in a column.
func middle(x rows.Data, some []int) (centre []float64, unit float64) {
	centre = make([]float64, x.D)
	v := make([]float64, len(some))
	most := 0.0
	for j := range centre {
		for k, i := range some {
			v[k] = x.X[i*x.D+j]
		}
		centre[j] = Median(v)
		for k, i := range some {
			v[k] = math.Abs(x.X[i*x.D+j] - centre[j])
			most = max(most, v[k])
		}
		unit = max(unit, Median(v))
	}
	if unit == 0 { // most rows are equal
		unit = most
	}
	return centre, unit
}

// cells is the number of cells in a unit of length. mostCells bounds the number from the centre, because distant
// coordinates are rounded to more than a cell.
const cells, mostCells = 1 << 16, 1 << 30

// hashOf returns the same pseudorandom number for the same cell.
func hashOf(x, centre []float64, unit float64) (hash uint64) {
	for j, v := range x {
		cell := math.Round((v - centre[j]) / unit * cells)
		cell = min(max(cell, -mostCells), mostCells)
		hash = Scattered(hash ^ math.Float64bits(cell+0)) // -0 is 0
	}
	return hash
}

// key is the hash of a row.
type key struct {
	hash uint64
	row  int
}

// Smallest lists the rows of positive weight with the least hashes, in their order and at most the given number: a
// sample of the distinct rows that does not depend on the order of x.
func Smallest(x rows.Data, most int) []int {
	var keys []key
	limit := uint64(math.MaxUint64)
	leave := func() {
		slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row)) })
		keys = slices.CompactFunc(keys, func(a, b key) bool { return a.hash == b.hash })
		if len(keys) >= most {
			keys, limit = keys[:most], keys[most-1].hash
		}
	}
	for i := range x.N {
		if h := Hash(x.Row(i)); h <= limit && x.Weight(i) > 0 {
			if keys = append(keys, key{h, i}); len(keys) > 4*most {
				leave()
			}
		}
	}
	leave()
	list := make([]int, len(keys))
	for k := range keys {
		list[k] = keys[k].row
	}
	return list
}

// Hash returns the same pseudorandom number for the same coordinates.
func Hash(x []float64) (hash uint64) {
	for _, v := range x {
		hash = Scattered(hash ^ math.Float64bits(v+0)) // -0 is 0
	}
	return hash
}

// Scattered maps a number to a pseudorandom one (G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom
// number generators, OOPSLA 2014).
func Scattered(v uint64) uint64 {
	v = (v + 1) * 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// RandomSign returns 1 or -1, determined by the first bit of a random number.
func RandomSign(v uint64) float64 { return float64(1 - 2*int(v>>63)) }

// PerturbationSeed is the seed of random signs. It is constant, so that the same rows give the same result.
const PerturbationSeed = 20240229
