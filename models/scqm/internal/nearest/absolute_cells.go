package nearest

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

//go:generate sh -c "go run ../../../../internal/dense/assembly cells > absolute_cells_amd64.s"

// cellLanes is the number of cells that are looked at together.
const cellLanes = 8

// The kernels by d.
var (
	cellsBegin512  = [...]func(table, group *float64){1: cellsBegin1AVX512, 2: cellsBegin2AVX512, 3: cellsBegin3AVX512}
	cellsBegin2    = [...]func(table, group *float64){1: cellsBegin1AVX2, 2: cellsBegin2AVX2, 3: cellsBegin3AVX2}
	cellsExtend512 = [...]func(table, group, cuts *float64, n int){1: cellsExtend1AVX512, 2: cellsExtend2AVX512, 3: cellsExtend3AVX512}
	cellsExtend2   = [...]func(table, group, cuts *float64, n int){1: cellsExtend1AVX2, 2: cellsExtend2AVX2, 3: cellsExtend3AVX2}
)

// cells are cones from the best place, those of the places tau + sum_i a_i ray_i, a_i >= 0, with rays whose
// entries have sizes that add up to 1 and one sign in each coordinate: s = sum_i a_i is the sum of the
// sizes of the coordinates from tau. Each knows up to which s nothing in it is below the best place, and
// where it ends. In memory are groups of cellLanes: in each, coordinate j of ray i is at d i + j, then comes
// reached, then the end, each for all lanes. Bits are those of plain Go.
type cells struct {
	d, count int
	groups   []float64
	halvings []int     // by cell
	table    []float64 // what begin reads: see loadVertex
}

// cutTerms is the number of terms of a cut for d: low, slopes, and the upper half of the bends, row by row.
func cutTerms(d int) int { return 1 + d + d*(d+1)/2 }

// cutSize is the number with a bound of the sizes of bends, which comes last.
func cutSize(d int) int { return cutTerms(d) + 1 }

// The table that begin reads has these numbers, then the cut of multipliers, then for every zero its
// multiplier, one and minus one less it, slopes and bends; W and H of exclude are the last.
const (
	cellZero = iota
	cellOne
	cellMinus
	cellFloor
	cellCut
)

func newCells(d int) *cells {
	zeros := d * (3 + cutTerms(d) - 1)
	return &cells{d: d, table: make([]float64, cellCut+cutTerms(d)+zeros+2*d*d)}
}

// size is the length of a group.
func (c *cells) size() int { return (c.d*c.d + 2) * cellLanes }

// ray returns where coordinate j of ray i of a cell is.
func (c *cells) ray(cell, i, j int) *float64 {
	return &c.groups[cell/cellLanes*c.size()+(i*c.d+j)*cellLanes+cell%cellLanes]
}

func (c *cells) reached(cell int) *float64 { return c.ray(cell, c.d, 0) }

// end returns where the s of a cell ends. (It is next to reached.)
func (c *cells) end(cell int) *float64 {
	return &c.groups[cell/cellLanes*c.size()+(c.d*c.d+1)*cellLanes+cell%cellLanes]
}

// reset makes a number of cells of nothing.
func (c *cells) reset(count int) {
	n := (count + cellLanes - 1) / cellLanes * c.size()
	if cap(c.groups) < n {
		c.groups = append(make([]float64, 0, 2*n), c.groups...)
	}
	from := len(c.groups)
	if c.groups = c.groups[:n]; n > from {
		clear(c.groups[from:])
	}
	for len(c.halvings) < count {
		c.halvings = append(c.halvings, 0)
	}
	c.count = count
}

// add adds a cell like one of other cells and returns its number.
func (c *cells) add(others *cells, like int) int {
	to := c.count
	c.reset(to + 1)
	a, b := c.numbers(to), others.numbers(like)
	for k := 0; k < c.size(); k += cellLanes {
		a[k] = b[k]
	}
	c.halvings[to] = others.halvings[like]
	return to
}

// drop drops the last cell.
func (c *cells) drop() {
	c.count--
	*c.reached(c.count), *c.end(c.count) = 0, 0
	if c.count%cellLanes == 0 {
		c.groups = c.groups[:c.count/cellLanes*c.size()]
	}
}

// numbers returns those of a cell: each number of it is cellLanes after the one before.
func (c *cells) numbers(cell int) []float64 {
	return c.groups[cell/cellLanes*c.size()+cell%cellLanes:]
}

// open reports whether a cell has places that may be lower.
func (c *cells) open(cell int) bool { return !(*c.reached(cell) >= *c.end(cell)) }

// halve cuts a cell into two across its longest side.
func (c *cells) halve(cell int) {
	from, to := c.longest(cell)
	c.halvings[cell]++
	other := c.add(c, cell)
	a, b := c.numbers(cell), c.numbers(other)
	for j := range c.d {
		i, k := (from*c.d+j)*cellLanes, (to*c.d+j)*cellLanes
		middle := (a[i] + a[k]) / 2
		a[i], b[k] = middle, middle
	}
}

// longest returns the rays between which a cell is widest.
func (c *cells) longest(cell int) (from, to int) {
	most, a := 0.0, c.numbers(cell)
	to = 1
	for i := range c.d {
		for j := range i {
			square := 0.0
			for k := range c.d {
				by := a[(i*c.d+k)*cellLanes] - a[(j*c.d+k)*cellLanes]
				square += by * by
			}
			if square > most {
				from, to, most = i, j, square
			}
		}
	}
	return from, to
}

// onAxis returns the place on the axis of a cell, the mean of its rays, that is at s from tau.
func (c *cells) onAxis(cell int, tau *place, at float64) place {
	t, a, k := *tau, c.numbers(cell), 0
	by := at / float64(c.d)
	for range c.d {
		for j := range c.d {
			t[j] += by * a[k]
			k += cellLanes
		}
	}
	return t
}

// wholeSphere makes the cells that looking begins with, those of the signs of coordinates halved so often.
func (c *cells) wholeSphere(halvings int) {
	d := c.d
	c.reset(0)
	c.reset(1 << d)
	for cell := range 1 << d {
		c.halvings[cell] = 0
		for j := range d {
			*c.ray(cell, j, j) = 1
			if cell>>j&1 == 1 {
				*c.ray(cell, j, j) = -1
			}
		}
	}
	for range halvings {
		for cell := range c.count {
			c.halve(cell)
		}
	}
}

// begin finds how far all cells are covered by what is known of the vertex, and by
// the cut there with those signs of the entries that vanish that they have in a cell, and their multipliers
// where they have both.
func (c *cells) begin() {
	wide, wider := dense.Wide()
	for at := 0; at < len(c.groups); at += c.size() {
		group := c.groups[at : at+c.size()]
		switch {
		case wider:
			cellsBegin512[c.d](&c.table[0], &group[0])
		case wide:
			cellsBegin2[c.d](&c.table[0], &group[0])
			cellsBegin2[c.d](&c.table[0], &group[cellLanes/2])
		default:
			c.plainBegin(group)
		}
	}
}

// extend goes on from where all cells have come by some cuts, of cutSize numbers each.
func (c *cells) extend(cuts []float64) {
	for at := 0; at < len(c.groups); at += c.size() {
		c.extendGroup(c.groups[at:at+c.size()], cuts)
	}
}

// repeat extends cells by cuts, until these say no more.
func (c *cells) repeat(cuts []float64) {
	for at := 0; at < len(c.groups); at += c.size() {
		group := c.groups[at : at+c.size()]
		reached, end := group[c.d*c.d*cellLanes:][:cellLanes], group[(c.d*c.d+1)*cellLanes:]
		for more := true; more; {
			before := [cellLanes]float64(reached)
			c.extendGroup(group, cuts)
			more = false
			for k, v := range reached {
				more = more || v != before[k] && v < end[k]
			}
		}
	}
}

// extendGroup is extend for the cells of a group.
func (c *cells) extendGroup(group, cuts []float64) {
	n := len(cuts) / cutSize(c.d)
	wide, wider := dense.Wide()
	switch {
	case n == 0:
	case wider:
		cellsExtend512[c.d](&c.table[0], &group[0], &cuts[0], n)
	case wide:
		cellsExtend2[c.d](&c.table[0], &group[0], &cuts[0], n)
		cellsExtend2[c.d](&c.table[0], &group[cellLanes/2], &cuts[0], n)
	default:
		c.plainExtend(group, cuts)
	}
}

// lane is one cell as kernels see it.
type lane struct {
	rays         [maxBounded]place
	reached, end float64
}

func (c *cells) lane(group []float64, k int) (l lane) {
	for i := range c.d {
		for j := range c.d {
			l.rays[i][j] = group[(i*c.d+j)*cellLanes+k]
		}
	}
	l.reached, l.end = group[c.d*c.d*cellLanes+k], group[(c.d*c.d+1)*cellLanes+k]
	return l
}

// plainExtend is what the kernels of extend do: with s = sum_i a_i, a cut is
//
//	q(t) >= low + s min_i g.ray_i + s^2 min_ij ray_i'B ray_j.
func (c *cells) plainExtend(group, cuts []float64) {
	d := c.d
	for k := range cellLanes {
		l := c.lane(group, k)
		for at := 0; at < len(cuts); at += cutSize(d) {
			q := cuts[at : at+cutSize(d)]
			slope, bend := l.slope(q[1:], 0, d), l.bend(q[1+d:], 0, 0, d)
			for i := range d {
				if i > 0 {
					slope = less(slope, l.slope(q[1:], i, d))
				}
				for j := range i + 1 {
					if i > 0 {
						bend = less(bend, l.bend(q[1+d:], i, j, d))
					}
				}
			}
			l.extend(q[0], slope, bend)
		}
		group[d*d*cellLanes+k] = l.reached
	}
}

// less is the smaller number, and the second where one is none.
func less(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

// greater is the larger number, and the second where one is none.
func greater(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}

// slope returns g.ray_i.
func (l *lane) slope(g []float64, i, d int) float64 {
	v := float64(g[0] * l.rays[i][0])
	for j := 1; j < d; j++ {
		v += float64(g[j] * l.rays[i][j])
	}
	return v
}

// bend returns ray_i'B ray_j for the upper half of B.
func (l *lane) bend(b []float64, i, j, d int) float64 {
	var sum float64
	for a := range d {
		v := float64(b[upper(0, a, d)] * l.rays[i][0])
		for k := 1; k < d; k++ {
			v += float64(b[upper(k, a, d)] * l.rays[i][k])
		}
		if v = float64(v * l.rays[j][a]); a == 0 {
			sum = v
		} else {
			sum += v
		}
	}
	return sum
}

// upper is the place of entry i, j in the upper half of a symmetric matrix, row by row.
func upper(i, j, d int) int {
	if i > j {
		i, j = j, i
	}
	return i*d - i*(i+1)/2 + j
}

// extend goes on from reached to where low + s slope + s^2 bend falls below 0.
func (l *lane) extend(low, slope, bend float64) {
	at := l.reached
	bent := float64(at * bend)
	if !(low+float64(at*(slope+bent)) >= 0) || !(at < l.end) {
		return
	}
	double := bend + bend
	root := math.Sqrt(float64(slope*slope) - float64((double+double)*low))
	next := (low + low) / (root - slope)
	if bend < 0 {
		next = (slope + root) / (0 - double)
	} else if 0 <= slope+float64(at*double) || !(0 <= float64(slope*slope)-float64((double+double)*low)) {
		next = l.end
	}
	if next > at {
		l.reached = next
	}
}

// plainBegin is what the kernels of begin do.
func (c *cells) plainBegin(group []float64) {
	d := c.d
	dual := c.table[cellCut:]
	zeros := dual[cutTerms(d):]
	vertex := zeros[d*(cutTerms(d)+2):]
	for k := range cellLanes {
		l := c.lane(group, k)
		var slope place
		var bend [maxBounded][maxBounded]float64
		for i := range d {
			slope[i] = l.slope(dual[1:], i, d)
			for j := range i + 1 {
				bend[i][j] = l.bend(dual[1+d:], i, j, d)
			}
		}
		for a := range d {
			z := zeros[a*(cutTerms(d)+2):]
			var u place
			low, high := 0.0, 0.0
			for i := range d {
				u[i] = l.slope(z[3:], i, d)
				if low, high = less(low, u[i]), greater(high, u[i]); i == 0 {
					low, high = u[i], u[i]
				}
			}
			by := c.table[cellZero]
			switch {
			case 0 <= low:
				by = z[1]
			case high <= 0:
				by = z[2]
			}
			for i := range d {
				slope[i] += float64(by * u[i])
				for j := range i + 1 {
					bend[i][j] += float64(by * l.bend(z[3+d:], i, j, d))
				}
			}
		}
		l.reached = greater(l.reached, 1/l.surroundings(vertex, c.table[cellFloor], d))
		least, most := slope[0], bend[0][0]
		for i := 1; i < d; i++ {
			least = less(least, slope[i])
			for j := range i + 1 {
				most = less(most, bend[i][j])
			}
		}
		l.extend(dual[0], least, most)
		group[d*d*cellLanes+k] = l.reached
	}
}

// surroundings returns the inverse of how far a cell is within the surroundings that exclude found.
func (l *lane) surroundings(vertex []float64, floor float64, d int) float64 {
	var far place // at least |u| for s = 1
	for a := range d {
		for i := range d {
			u := l.slope(vertex[a*d:], i, d)
			if u = greater(u, 0-u); i == 0 {
				far[a] = u
			} else {
				far[a] = greater(far[a], u)
			}
		}
	}
	for a := range d {
		h := vertex[d*d+a*d:]
		sum := float64(h[0] * far[0])
		for k := 1; k < d; k++ {
			sum += float64(h[k] * far[k])
		}
		floor = greater(floor, sum)
	}
	return floor
}

// signs returns the signs of the coordinates of every cell, a bit each that is set for those below 0.
func (c *cells) signs() []int {
	signs := make([]int, c.count)
	for k := range signs {
		for i := range c.d {
			for j := range c.d {
				if *c.ray(k, i, j) < 0 {
					signs[k] |= 1 << j
				}
			}
		}
	}
	return signs
}

// copyFrom makes cells as others are.
func (c *cells) copyFrom(other *cells) {
	c.groups = append(c.groups[:0], other.groups...)
	c.halvings = append(c.halvings[:0], other.halvings...)
	c.count = other.count
}
