package denoise

import "slices"

// near is a row and its squared distance from a point.
type near struct {
	distance float64
	row      int
}

// before orders by distance, ties by row.
func (a near) before(b near) bool {
	return a.distance < b.distance || a.distance == b.distance && a.row < b.row
}

func compareNear(a, b near) int {
	switch {
	case a.before(b):
		return -1
	case b.before(a):
		return 1
	}
	return 0
}

// kNearest keeps the k nearest of the rows offered to it, in a heap whose first
// entry is the furthest.
type kNearest struct {
	heap []near
	k    int
}

func (s *kNearest) reset(k int) {
	s.k = k
	s.heap = slices.Grow(s.heap[:0], k)
}

// full tells whether k rows have been offered.
func (s *kNearest) full() bool { return len(s.heap) == s.k }

// furthest is the squared distance of the furthest row kept, 0 without one.
func (s *kNearest) furthest() float64 {
	if len(s.heap) == 0 {
		return 0
	}
	return s.heap[0].distance
}

func (s *kNearest) offer(c near) {
	if !s.full() {
		s.heap = append(s.heap, c)
		s.rise(len(s.heap) - 1)
		return
	}
	if c.before(s.heap[0]) {
		s.heap[0] = c
		s.sink()
	}
}

func (s *kNearest) rise(i int) {
	for i > 0 {
		up := (i - 1) / 2
		if !s.heap[up].before(s.heap[i]) {
			return
		}
		s.heap[up], s.heap[i] = s.heap[i], s.heap[up]
		i = up
	}
}

func (s *kNearest) sink() {
	h, i := s.heap, 0
	moved := h[0]
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down].before(h[down+1]) {
			down++
		}
		if !moved.before(h[down]) {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = moved
}

// sorted returns what was kept, nearest first. It stays valid until the next
// reset.
func (s *kNearest) sorted() []near {
	slices.SortFunc(s.heap, compareNear)
	return s.heap
}
