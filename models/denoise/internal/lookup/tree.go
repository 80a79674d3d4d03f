package lookup

import "math"

const (
	// leafRows is the largest number of rows of a leaf.
	leafRows = 12
	// surely is a safety factor for rounding when a tree excludes a box.
	surely = 1 - 1e-12
)

// tree is a k-d tree: boxes of rows, halved across their widest side until few
// rows are left in them. A search keeps the distance of its point from the box
// at hand, coordinate by coordinate, and leaves out boxes that are too far.
//
// Source: J. H. Friedman, J. L. Bentley, R. A. Finkel, An Algorithm for Finding
// Best Matches in Logarithmic Expected Time, ACM TOMS 3 (1977); the distance
// from boxes is that of S. Arya, D. M. Mount, Algorithms for fast vector
// quantization, DCC 1993.
type tree struct {
	d     int
	rows  []float64 // in the order of the leaves, those of three numbers by column
	row   []int     // number of every row
	nodes []node    // the root first
}

// node is a leaf of the rows [lo, hi), or divides them at a plane.
type node struct {
	lo, hi int
	axis   int // -1 for a leaf
	at     float64
	right  int // the left child follows its parent
}

func newTree(x []float64, D int, list []int) *tree {
	t := &tree{d: D, row: append([]int(nil), list...), rows: make([]float64, 0, len(list)*D)}
	t.divide(x, 0, len(list))
	if D == Space {
		for j := range D {
			for _, i := range t.row {
				t.rows = append(t.rows, x[i*D+j])
			}
		}
		return t
	}
	for _, i := range t.row {
		t.rows = append(t.rows, x[i*D:(i+1)*D]...)
	}
	return t
}

// divide adds the node of the rows [lo, hi) and those below it.
func (t *tree) divide(x []float64, lo, hi int) {
	self := len(t.nodes)
	t.nodes = append(t.nodes, node{lo: lo, hi: hi, axis: -1})
	if hi-lo <= leafRows {
		return
	}
	axis, width := t.widest(x, lo, hi)
	if width == 0 {
		return // all rows are equal
	}
	middle := (lo + hi) / 2
	t.selectRow(x, axis, lo, hi, middle)
	at := x[t.row[middle]*t.d+axis]
	t.divide(x, lo, middle)
	right := len(t.nodes)
	t.divide(x, middle, hi)
	t.nodes[self].axis, t.nodes[self].at, t.nodes[self].right = axis, at, right
}

// widest returns the coordinate in which the rows [lo, hi) spread most.
func (t *tree) widest(x []float64, lo, hi int) (axis int, width float64) {
	for j := range t.d {
		least, most := x[t.row[lo]*t.d+j], x[t.row[lo]*t.d+j]
		for _, i := range t.row[lo+1 : hi] {
			v := x[i*t.d+j]
			least, most = min(least, v), max(most, v)
		}
		if most-least > width {
			axis, width = j, most-least
		}
	}
	return axis, width
}

// selectRow orders the rows [lo, hi) so that none before k has a larger
// coordinate than row k and none after it a smaller one (Hoare 1961).
func (t *tree) selectRow(x []float64, axis, lo, hi, k int) {
	value := func(i int) float64 { return x[t.row[i]*t.d+axis] }
	for hi-lo > 1 {
		a, b, c := value(lo), value((lo+hi)/2), value(hi-1)
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := lo, hi-1
		for i <= j {
			for value(i) < pivot {
				i++
			}
			for value(j) > pivot {
				j--
			}
			if i <= j {
				t.row[i], t.row[j] = t.row[j], t.row[i]
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

// nearest searches within a guessed distance, and without a bound if the guess was too small. All rows within the
// distance are found, so that the k nearest of them are the k nearest of all.
func (t *tree) nearest(s *Search, x []float64) {
	if k := min(s.k, len(t.row)); s.before.k > 0 && k > 0 {
		perRow := s.before.far / float64(s.before.k)
		// By the search before, which is likely to have been near by.
		guess := perRow * float64(k) * (1.2 + 2/math.Sqrt(float64(k)))
		if guess > 0 && !math.IsInf(guess, 1) {
			s.limit = guess
			if t.d != Space || !s.vicinity(t).scan(t, s, [Space]float64(x)) {
				t.search(s, x)
			}
			if len(s.list) >= k {
				return
			}
			s.list, s.limit = s.list[:0], math.Inf(1)
		}
	}
	t.search(s, x)
}

func (t *tree) search(s *Search, x []float64) {
	clear(s.off)
	if t.d == Space {
		t.visitSpace(s, [Space]float64(x), 0, 0)
		return
	}
	t.visit(s, x, 0, 0)
}

// visit searches below a node whose box is at the given squared distance.
func (t *tree) visit(s *Search, x []float64, at int, distance float64) {
	n := &t.nodes[at]
	if n.axis < 0 {
		for k := n.lo; k < n.hi; k++ {
			s.offerRow(x, t.rows[k*t.d:(k+1)*t.d], t.row[k])
		}
		return
	}
	gap := x[n.axis] - n.at
	first, second := at+1, n.right
	if gap > 0 {
		first, second = second, first
	}
	t.visit(s, x, first, distance)
	before := s.off[n.axis]
	distance += float64(gap*gap) - float64(before*before)
	if distance*surely > s.limit {
		return
	}
	s.off[n.axis] = gap
	t.visit(s, x, second, distance)
	s.off[n.axis] = before
}

// column is one of the rows of a leaf.
func (t *tree) column(j int, n *node) []float64 {
	from := j * len(t.row)
	return t.rows[from+n.lo : from+n.hi]
}

// visitSpace is visit for rows of three numbers.
func (t *tree) visitSpace(s *Search, x [Space]float64, at int, distance float64) {
	n := &t.nodes[at]
	if n.axis < 0 {
		limit := s.limit
		row := t.row[n.lo:n.hi]
		x0, x1, x2 := t.column(0, n)[:len(row)], t.column(1, n)[:len(row)], t.column(2, n)[:len(row)]
		for k := range row {
			if square := squareInSpace(x, [Space]float64{x0[k], x1[k], x2[k]}); square <= limit {
				s.list = append(s.list, Near{square, row[k]})
			}
		}
		s.makeRoom()
		return
	}
	gap := x[n.axis] - n.at
	first, second := at+1, n.right
	if gap > 0 {
		first, second = second, first
	}
	t.visitSpace(s, x, first, distance)
	before := s.off[n.axis]
	distance += float64(gap*gap) - float64(before*before)
	if distance*surely > s.limit {
		return
	}
	s.off[n.axis] = gap
	t.visitSpace(s, x, second, distance)
	s.off[n.axis] = before
}
