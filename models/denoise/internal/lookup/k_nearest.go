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

// before orders by distance, and equal distances by row.
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

// kNearest keeps the k nearest of the rows offered to it. It collects about 2k rows in their order, then drops all
// but the k nearest of them. This takes a few steps for each row, for any k.
type kNearest struct {
	list []Near
	k    int
	// limit is the squared distance beyond which rows are dropped. It is that of the k-th row so far, or a guess by an
	// index, which must then check that k rows were found.
	limit float64

	ordered []Near
	first   []int32 // first row of each bucket
}

// spareRows is the number of rows beyond 2k that are collected before rows are dropped.
const spareRows = 32

func (s *kNearest) reset(k int) {
	s.k, s.limit = k, math.Inf(1)
	room := min(2*k, k+4096) + spareRows
	if cap(s.list) < room {
		s.list, s.ordered, s.first = make([]Near, 0, room), make([]Near, 0, room), make([]int32, 0, room)
	}
	s.list = s.list[:0]
}

// furthest returns the squared distance of the k-th nearest row, of the last if there are fewer, 0 without rows.
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

// makeRoom drops rows if there are too many.
func (s *kNearest) makeRoom() {
	if len(s.list) >= min(2*s.k, s.k+4096)+spareRows {
		s.leaveOut()
		s.limit = s.furthest()
	}
}

// leaveOut drops all but the k nearest rows.
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

// sorted returns the k nearest rows, nearest first. The result is valid until the next reset.
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

// bucketed returns the k nearest rows by bucket sort, with per buckets for each unit of squared distance. Rows on
// a surface fill such buckets about equally.
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
	for last < n { // also places the rows beyond, as skipping them takes a branch that is predicted badly
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
