package rows

import (
	"math"
	"math/bits"
	"slices"
)

// Merged are data in which every row occurs once, with the weights of its copies added up. An objective that is a sum
// over rows is unchanged as a function of the shared parameters, because equal rows have equal nearest points.
type Merged struct {
	Data Data
	From Data
	// Row is, for every row of the original data, its index in the merged data; -1 for weight zero.
	Row []int
}

// Merge drops rows of weight zero and sorts the others, so that a row of weight 2 and two equal rows give
// bit-identical fits. If [Repeats] returns false there is nothing to merge.
func Merge(x Data) *Merged {
	order := make([]int, 0, x.N)
	for i := range x.N {
		if x.Weight(i) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return slices.Compare(x.Row(i), x.Row(j)) })
	return mergeListed(x, order)
}

// Distinct merges equal rows and adds their weights. Rows keep the order of their first
// occurrence. If all rows differ, it returns x itself.
func Distinct(x Data) Data {
	if !repeats(x) {
		return x
	}
	order := make([]int, x.N)
	for i := range order {
		order[i] = i
	}
	return mergeListed(x, order).Data
}

// mergeListed merges equal rows of those listed, at the place of the first one.
func mergeListed(x Data, order []int) *Merged {
	m := &Merged{From: x, Data: Data{D: x.D, Missing: x.Missing}, Row: make([]int, x.N)}
	for i := range m.Row {
		m.Row[i] = -1
	}
	number := make(map[uint64]int, len(order)) // of a hash, in Data
	var first []int                            // of each row of Data, in x
	for _, i := range order {
		h := rowHash(x.Row(i))
		k, taken := number[h]
		for ; taken && !equal(x.Row(i), x.Row(first[k])); k, taken = number[h] {
			h++
		}
		if !taken {
			k = len(first)
			number[h] = k
			first = append(first, i)
		}
		m.Row[i] = k
	}
	m.Data.N = len(first)
	m.Data.X, m.Data.Weights = make([]float64, 0, m.Data.N*x.D), make([]float64, m.Data.N)
	for _, i := range first {
		m.Data.X = append(m.Data.X, x.Row(i)...)
	}
	for _, i := range order {
		m.Data.Weights[m.Row[i]] += x.Weight(i)
	}
	return m
}

// Repeats reports whether rows have weight zero or occur several times, at the cost
// of one hash per row.
func Repeats(x Data) bool { return slices.Contains(x.Weights, 0) || repeats(x) }

// repeats reports whether two rows have the same hash, as equal rows do. Marks find the few hashes that may repeat,
// so that only these are sorted.
func repeats(x Data) bool {
	hashes := make([]uint64, x.N)
	size := bits.Len(uint(16 * x.N))
	seen, again := make([]uint64, 1<<size/64+1), make([]uint64, 1<<size/64+1)
	mark := func(h uint64) (word, bit uint64) { return h >> (64 - size) / 64, 1 << (h >> (64 - size) % 64) }
	for i := range hashes {
		hashes[i] = rowHash(x.Row(i))
		word, bit := mark(hashes[i])
		again[word] |= seen[word] & bit
		seen[word] |= bit
	}
	shared := hashes[:0]
	for _, h := range hashes {
		if word, bit := mark(h); again[word]&bit != 0 {
			shared = append(shared, h)
		}
	}
	slices.Sort(shared)
	all := len(shared)
	return len(slices.Compact(shared)) < all
}

// equal reports whether two rows are the same, with the same entries missing.
func equal(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(v, u float64) bool { return v == u || v != v && u != u })
}

// rowHash returns the same hash for equal rows. It computes four hashes at once.
func rowHash(row []float64) uint64 {
	const seed = uint64(0x9e3779b97f4a7c15)
	h := [4]uint64{seed, seed + 1, seed + 2, seed + 3}
	for len(row) >= 4 {
		h[0], h[1] = hashed(h[0], row[0]), hashed(h[1], row[1])
		h[2], h[3] = hashed(h[2], row[2]), hashed(h[3], row[3])
		row = row[4:]
	}
	for _, v := range row {
		h[0] = hashed(h[0], v)
	}
	for _, other := range h[1:] {
		h[0] = mixed(h[0] ^ other)
	}
	return h[0]
}

// hashed adds a number to a hash. Both zeros have the same hash, and so have all NaN.
func hashed(h uint64, v float64) uint64 {
	if v != v {
		v = math.NaN()
	}
	return mixed(h ^ math.Float64bits(v+0))
}

func mixed(h uint64) uint64 {
	h *= 0xff51afd7ed558ccd
	return h ^ h>>32
}
