package denoise

import (
	"hash/maphash"
	"math"
	"slices"

	"github.com/scqm/scqm/models/scqm"
)

// Merge makes one row of all that are equal, with the sum of their weights, in
// the order in which they come first. Neighbourhoods full of one row say nothing
// about the surface, and a weight then counts as that many repetitions. Without
// equal rows it returns x itself. [Fit] does it to the rows that it is given.
func Merge(x scqm.Data) scqm.Data {
	first := make(map[uint64]int, x.N)
	seed := maphash.MakeSeed()
	home := make([]int, x.N) // the row that stands for each
	kept := 0
	for i := range x.N {
		home[i] = i
		for h := rowHash(seed, x.Row(i)); ; h++ {
			j, taken := first[h]
			if !taken {
				first[h] = i
				kept++
				break
			}
			if slices.Equal(x.Row(i), x.Row(j)) {
				home[i] = j
				break
			}
		}
	}
	if kept == x.N {
		return x
	}
	out := scqm.Data{D: x.D, X: make([]float64, 0, kept*x.D), Weights: make([]float64, 0, kept)}
	place := make([]int, x.N)
	for i, j := range home {
		weight := 1.0
		if x.Weights != nil {
			weight = x.Weights[i]
		}
		if i == j {
			place[i] = out.N
			out.N++
			out.X, out.Weights = append(out.X, x.Row(i)...), append(out.Weights, weight)
			continue
		}
		out.Weights[place[j]] += weight
	}
	return out
}

func rowHash(seed maphash.Seed, row []float64) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, v := range row {
		maphash.WriteComparable(&h, math.Float64bits(v+0)) // -0 is equal to 0
	}
	return h.Sum64()
}
