package lookup

import (
	"math"
	"slices"
)

// Near is a row and its squared distance from a point.
type Near struct {
	Distance float64
	Row      int
}

// before orders by distance, ties by row.
func (a Near) before(b Near) bool {
	return a.Distance < b.Distance || a.Distance == b.Distance && a.Row < b.Row
}

func compareNear(a, b Near) int {
	switch {
	case a.before(b):
		return -1
	case b.before(a):
		return 1
	}
	return 0
}

// kNearest keeps the k nearest of the rows offered to it: up to about twice as many in the order in
// which they come, of which the furthest are left out when these are too many. That takes a few steps a
// row, whatever k is.
type kNearest struct {
	list []Near
	k    int
	// limit is a squared distance beyond which no row is among the k nearest: of those seen, or as
	// an index guesses, which then has to look whether it has found k.
	limit float64

	ordered []Near
	first   []int32 // of buckets
}

// spareRows is how many more than 2k rows are kept before some are left out.
const spareRows = 32

func (s *kNearest) reset(k int) {
	s.k, s.limit = k, math.Inf(1)
	room := min(2*k, k+4096) + spareRows
	if cap(s.list) < room {
		s.list, s.ordered, s.first = make([]Near, 0, room), make([]Near, 0, room), make([]int32, 0, room)
	}
	s.list = s.list[:0]
}

// furthest is the squared distance of the furthest of the k nearest, 0 without one.
func (s *kNearest) furthest() float64 {
	s.leaveOut()
	most := 0.0
	for _, c := range s.list {
		most = max(most, c.Distance)
	}
	return most
}

func (s *kNearest) offer(c Near) {
	if c.Distance > s.limit {
		return
	}
	s.list = append(s.list, c)
	s.makeRoom()
}

// makeRoom leaves rows out where there are too many.
func (s *kNearest) makeRoom() {
	if len(s.list) >= min(2*s.k, s.k+4096)+spareRows {
		s.leaveOut()
		s.limit = s.furthest()
	}
}

// leaveOut leaves the k nearest.
func (s *kNearest) leaveOut() {
	if len(s.list) > s.k {
		selectNear(s.list, s.k)
		s.list = s.list[:s.k]
	}
}

// selectNear orders a list so that none before k comes after any other (Hoare 1961).
func selectNear(list []Near, k int) {
	lo, hi := 0, len(list)
	for hi-lo > 1 {
		a, b, c := list[lo], list[(lo+hi)/2], list[hi-1]
		if b.before(a) {
			a, b = b, a
		}
		if c.before(b) {
			b = c
			if b.before(a) {
				b = a
			}
		}
		i, j := lo, hi-1
		for i <= j {
			for list[i].before(b) {
				i++
			}
			for b.before(list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j + 1
		case k >= i:
			lo = i
		default:
			return
		}
	}
}

// sorted returns the k nearest of those offered, nearest first. It stays valid until the next reset.
func (s *kNearest) sorted() []Near {
	n, k := len(s.list), min(s.k, len(s.list))
	far := s.limit
	if math.IsInf(far, 1) {
		far = 0
		for _, c := range s.list {
			far = max(far, c.Distance)
		}
	}
	per := float64(n) / far
	if n <= 12 || !(per > 0) || math.IsInf(per, 0) {
		slices.SortFunc(s.list, compareNear)
		return s.list[:k]
	}
	return s.bucketed(per, k)
}

// bucketed sorts by buckets, per a unit of squared distance: on a surface these are about equally full.
func (s *kNearest) bucketed(per float64, k int) []Near {
	n := len(s.list)
	s.first = slices.Grow(s.first[:0], n+1)[:n+1]
	first := s.first
	clear(first)
	for _, c := range s.list {
		first[min(int(c.Distance*per), n-1)+1]++
	}
	last, most, before := 0, int32(0), int32(0) // of the buckets that have the k nearest
	for last < n && int(before) < k {
		last++
		here := first[last]
		most = max(most, here)
		before += here
		first[last] = before
	}
	all := int(before)
	for last < n { // rows beyond have places too, as to leave them out is a branch that a processor guesses badly
		last++
		before += first[last]
		first[last] = before
	}
	s.ordered = slices.Grow(s.ordered[:0], n)[:n]
	out := s.ordered
	for _, c := range s.list {
		b := min(int(c.Distance*per), n-1)
		out[first[b]] = c
		first[b]++
	}
	out = out[:all]
	if most > 24 { // too crowded a bucket
		slices.SortFunc(out, compareNear)
		return out[:k]
	}
	for i := 1; i < len(out); i++ {
		c := out[i]
		if c.Distance > out[i-1].Distance {
			continue
		}
		j := i
		for ; j > 0 && c.before(out[j-1]); j-- {
			out[j] = out[j-1]
		}
		out[j] = c
	}
	return out[:k]
}
