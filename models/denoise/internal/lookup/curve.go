package lookup

import (
	"cmp"
	"math"
	"slices"
)

// OrderWords is the memory of [AlongCurve] in numbers per row.
const OrderWords = 3

// AlongCurve returns an order of listed rows in which successive rows are near each other, along a Z-order curve of
// their first three columns. The data for one row are then in cache for the next. No result depends on the order.
//
// Source: G. M. Morton, A computer oriented geodetic data base and a new technique in file sequencing,
// IBM (1966).
func AlongCurve(x []float64, D int, list []int) []int {
	lo, hi := make([]float64, min(D, Space)), make([]float64, min(D, Space))
	for j := range lo {
		lo[j], hi[j] = math.Inf(1), math.Inf(-1)
		for _, i := range list {
			lo[j], hi[j] = min(lo[j], x[i*D+j]), max(hi[j], x[i*D+j])
		}
	}
	type key struct {
		code  uint64
		place int
	}
	keys := make([]key, len(list))
	for k, i := range list {
		keys[k].place = k
		for j := range lo {
			if width := hi[j] - lo[j]; width > 0 {
				at := (x[i*D+j] - lo[j]) / width
				keys[k].code |= spread(uint64(math.Min(at, 1)*(1<<21-1))) << j
			}
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.place, b.place))
	})
	order := make([]int, len(keys))
	for k, v := range keys {
		order[k] = v.place
	}
	return order
}

// spread puts two zeros between the bits of a number of 21 bits.
func spread(v uint64) uint64 {
	v = (v | v<<32) & 0x1f00000000ffff
	v = (v | v<<16) & 0x1f0000ff0000ff
	v = (v | v<<8) & 0x100f00f00f00f00f
	v = (v | v<<4) & 0x10c30c30c30c30c3
	return (v | v<<2) & 0x1249249249249249
}
