package lookup

import (
	"math"
)

// Index finds the nearest of a set of rows exactly, with ties in favour of the row that comes first. It is safe for
// concurrent use.
type Index interface {
	// nearest stores the nearest rows to x in s, at most as many as s keeps.
	nearest(s *Search, x []float64)
}

// Search is the memory of one goroutine for searches.
type Search struct {
	kNearest
	off []float64 // D: distance from the box of a tree, by coordinate
	// before describes the previous search: how many rows it found, and the squared distance of the furthest.
	before struct {
		k   int
		far float64
	}
	// vicinities are copies of rows of the last two trees, the last used one first. Searches may alternate.
	vicinities [2]*vicinity
}

// NewIndex indexes the listed rows of x, n x D.
func NewIndex(x []float64, D int, list []int) Index {
	if D > 64 || len(list) < 64 { // a tree does not pay: see BenchmarkIndex; or would be one leaf
		return NewScan(x, D, list)
	}
	return newTree(x, D, list)
}

// Find returns the k nearest rows to x, nearest first, in memory of s.
func (s *Search) Find(in Index, x []float64, k int) []Near {
	s.reset(k)
	if len(s.off) < len(x) {
		s.off = make([]float64, len(x))
	}
	in.nearest(s, x)
	found := s.sorted()
	if last := len(found) - 1; last > 0 && found[last].Distance > 0 {
		s.before.k, s.before.far = len(found), found[last].Distance
	}
	return found
}

// block is the number of coordinates between two checks whether a distance is already too large.
const block = 8

// Space is the number of columns for which there are special kernels.
const Space = 3

// squareInSpace returns the squared distance of x and row, bit-identical to the kernel nearRows.
func squareInSpace(x, row [Space]float64) float64 {
	a, b, c := x[0]-row[0], x[1]-row[1], x[2]-row[2]
	return float64(a*a) + float64(b*b) + float64(c*c)
}

// offerRow adds a row unless it is too far. All indices use this function, so that they agree to the last bit.
func (s *Search) offerRow(x, row []float64, i int) {
	if len(x) == Space {
		s.offer(Near{squareInSpace([Space]float64(x), [Space]float64(row)), i})
		return
	}
	var sum float64
	row = row[:len(x)]
	if len(x) <= block || math.IsInf(s.limit, 1) {
		for j, v := range x {
			d := v - row[j]
			sum += float64(d * d)
		}
		s.offer(Near{sum, i})
		return
	}
	for from := 0; from < len(x); from += block {
		to := min(from+block, len(x))
		for j := from; j < to; j++ {
			d := x[j] - row[j]
			sum += float64(d * d)
		}
		if sum > s.limit {
			return
		}
	}
	s.offer(Near{sum, i})
}

// scan is the index that looks at every row.
type scan struct {
	rows []float64
	row  []int // number of every row
	d    int
}

func NewScan(x []float64, D int, list []int) *scan {
	s := &scan{rows: make([]float64, 0, len(list)*D), row: list, d: D}
	for _, i := range list {
		s.rows = append(s.rows, x[i*D:(i+1)*D]...)
	}
	return s
}

func (c *scan) nearest(s *Search, x []float64) {
	for k, i := range c.row {
		s.offerRow(x, c.rows[k*c.d:(k+1)*c.d], i)
	}
}
