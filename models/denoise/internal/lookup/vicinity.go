package lookup

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/scqm/scqm/internal/dense"
)

//go:generate sh -c "go run ../../../../internal/dense/assembly vicinity > vicinity_amd64.s"

// groupRows is the number of rows whose distances a kernel computes at a time.
const groupRows = 8

// wholeGroups rounds n up to a multiple of groupRows.
func wholeGroups(n int) int { return (n + groupRows - 1) / groupRows * groupRows }

// vicinity is a copy of all rows of a tree in a ball. Successive lookups are mostly near each other. To scan such a
// copy, eight rows at a time, costs less than to search the tree again.
type vicinity struct {
	of     *tree
	centre [Space]float64
	radius float64
	n      int
	rows   []float64 // by column, stride apart, with rows infinitely far beyond the last
	stride int
	number []int

	from, to int // range of rows of the tree that are still to be copied

	last    [Space]float64 // the previous query point
	asked   float64        // the largest requested distance since the copy was made
	squares []float64      // of the distances of a lookup
	within  []byte         // which of eight rows are near enough
	table   [Space + 1]float64
}

// vicinityReach is the radius of a copy in units of the requested distance.
const vicinityReach = 1.8

// vicinity returns the copy of nearby rows of the tree t.
func (s *Search) vicinity(t *tree) *vicinity {
	v := &s.vicinities
	if v[0] == nil {
		v[0], v[1] = &vicinity{}, &vicinity{}
	}
	if v[0].of != t {
		v[0], v[1] = v[1], v[0]
	}
	return v[0]
}

// Forget discards the copies of rows of earlier trees, as these rows may change.
func (s *Search) Forget() {
	for _, v := range s.vicinities {
		if v != nil {
			v.of = nil
		}
	}
}

// scan adds the rows of a tree within the limit of a search to its list, as [tree.Search] does, in another order. It
// returns false, without searching, if the lookups are not near each other.
func (v *vicinity) scan(t *tree, s *Search, x [Space]float64) bool {
	far := math.Sqrt(s.limit)
	last := v.last
	v.last = x
	if v.of != t || !(math.Sqrt(squareInSpace(x, v.centre))+far <= v.radius*surely) {
		if !(math.Sqrt(squareInSpace(x, last)) <= (vicinityReach-1)*far) {
			return false
		}
		if v.of != t {
			v.asked = 0
		}
		v.copy(t, s, x, vicinityReach*max(far, v.asked))
	}
	v.asked = max(v.asked, far)
	v.list(s, x)
	return true
}

// copy copies the rows of the tree within radius of centre.
func (v *vicinity) copy(t *tree, s *Search, centre [Space]float64, radius float64) {
	v.of, v.centre, v.radius, v.asked = t, centre, radius, 0
	v.n, v.from, v.to = 0, 0, 0
	clear(s.off)
	v.visit(t, s, 0, 0)
	v.take(t)
	n := wholeGroups(v.n)
	v.room(n)
	for j := range Space {
		pad := v.rows[j*v.stride+v.n : j*v.stride+n]
		for i := range pad {
			pad[i] = math.Inf(1)
		}
	}
	if len(v.squares) < n {
		v.squares, v.within = make([]float64, v.stride), make([]byte, v.stride/groupRows+8)
	}
}

// room allocates memory for n rows.
func (v *vicinity) room(n int) {
	if n <= v.stride {
		return
	}
	stride := wholeGroups(max(2*v.stride, n, 512))
	rows, number := make([]float64, Space*stride), make([]int, stride)
	for j := range Space {
		copy(rows[j*stride:], v.rows[j*v.stride:j*v.stride+v.n])
	}
	copy(number, v.number[:v.n])
	v.rows, v.number, v.stride = rows, number, stride
}

// visit takes the leaves within the radius from left to right, and copies those that follow each other at once.
func (v *vicinity) visit(t *tree, s *Search, at int, distance float64) {
	n := &t.nodes[at]
	if n.axis < 0 {
		if v.to != n.lo {
			v.take(t)
			v.from = n.lo
		}
		v.to = n.hi
		return
	}
	gap, before := v.centre[n.axis]-n.at, s.off[n.axis]
	beyond := distance + float64(gap*gap) - float64(before*before)
	far := beyond*surely > v.radius*v.radius
	if gap <= 0 {
		v.visit(t, s, at+1, distance)
		if !far {
			s.off[n.axis] = gap
			v.visit(t, s, n.right, beyond)
			s.off[n.axis] = before
		}
		return
	}
	if !far {
		s.off[n.axis] = gap
		v.visit(t, s, at+1, beyond)
		s.off[n.axis] = before
	}
	v.visit(t, s, n.right, distance)
}

// take copies rows that follow each other.
func (v *vicinity) take(t *tree) {
	v.room(v.n + v.to - v.from)
	for j := range Space {
		copy(v.rows[j*v.stride+v.n:(j+1)*v.stride], t.rows[j*len(t.row)+v.from:j*len(t.row)+v.to])
	}
	v.n += copy(v.number[v.n:], t.row[v.from:v.to])
}

// list adds the rows within the limit to the candidates of the search.
func (v *vicinity) list(s *Search, x [Space]float64) {
	groups := wholeGroups(v.n) / groupRows
	v.find(x, s.limit, groups)
	if cap(s.list) < v.n {
		s.list = make([]Near, v.stride)
	}
	list, found := s.list[:cap(s.list)], 0
	// Eight groups are listed in one go: most have one row within the limit or none, and a processor guesses badly which.
	for g := 0; g < groups; g += 8 {
		within := binary.LittleEndian.Uint64(v.within[g : g+8])
		if left := groups - g; left < 8 {
			within &= 1<<(groupRows*left) - 1
		}
		squares, number := v.squares[groupRows*g:], v.number[groupRows*g:]
		for ; within != 0; within &= within - 1 {
			i := bits.TrailingZeros64(within)
			list[found] = Near{squares[i], number[i]}
			found++
		}
	}
	s.list = list[:found]
}

// find finds the squared distances of all rows, and which are within a limit.
func (v *vicinity) find(x [Space]float64, limit float64, groups int) {
	v.table = [Space + 1]float64{x[0], x[1], x[2], limit}
	switch {
	case groups == 0:
	case dense.HasAVX2():
		nearRows(&v.table[0], &v.rows[0], v.stride, &v.squares[0], &v.within[0], groups)
	default:
		v.findPlain(x, limit, groups)
	}
}

func (v *vicinity) findPlain(x [Space]float64, limit float64, groups int) {
	clear(v.within[:groups])
	for i := range groupRows * groups {
		v.squares[i] = squareInSpace(x, [Space]float64{v.rows[i], v.rows[v.stride+i], v.rows[2*v.stride+i]})
		if v.squares[i] <= limit {
			v.within[i/groupRows] |= 1 << (i % groupRows)
		}
	}
}
