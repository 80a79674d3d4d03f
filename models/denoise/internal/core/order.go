package core

import (
	"cmp"
	"math"
	"slices"

	"github.com/scqm/scqm/models/rows"
)

// Shuffled returns the distinct rows of x, ordered by a hash of their coordinates. Which rows are samples, which signs probes have and
// how ties of distances are broken follow this order, so that no result depends on the order of x.
func Shuffled(x rows.Data) rows.Data {
	x = rows.Distinct(x)
	type key struct {
		hash uint64
		row  int
	}
	keys := make([]key, x.N)
	for i := range keys {
		keys[i] = key{hashOf(x.Row(i)), i}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return slices.Compare(x.Row(a.row), x.Row(b.row))
	})
	order := make([]int, x.N)
	for k := range keys {
		order[k] = keys[k].row
	}
	return x.Select(order)
}

// hashOf is the same number for the same coordinates, and looks random otherwise.
func hashOf(x []float64) (hash uint64) {
	for _, v := range x {
		hash = Scattered(hash ^ math.Float64bits(v+0)) // -0 is 0
	}
	return hash
}

// Scattered is a number that looks random, for the same number always the same (G. L. Steele, D. Lea, C. H. Flood, Fast
// splittable pseudorandom number generators, OOPSLA 2014).
func Scattered(v uint64) uint64 {
	v = (v + 1) * 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// RandomSign is 1 or -1 by the first bit of a random number.
func RandomSign(v uint64) float64 { return float64(1 - 2*int(v>>63)) }

// PerturbationSeed fixes random signs: the same rows give the same result.
const PerturbationSeed = 20240229
