package denoise

import (
	"math"
	"slices"

	"github.com/scqm/scqm/internal/dense"
)

// Where a surface bends more than elsewhere charts of fewer rows are better. The variance of a foot on a chart of K rows falls as 1/K, the square of what
// a surface bends by beyond a quadratic rises about as K^3, so that the best K is as the fourth root of one over the latter. How much that is shows
// in the noise of charts of many rows by least squares, which are made about some of the rows before the pilot: in flat places it is the noise of the rows. With
// more noise it takes more rows to see it, and K is larger as well.

// bending is how much a surface bends: squares of the noise that charts about rows see, in units of that of all. Zero says that it is the same everywhere, or
// not known.
type bending struct {
	flat, middle float64 // the flatAt quantile, and the median
	chance       float64 // the variance of a square by chance: those that differ from the middle by no more say nothing
}

const (
	// flatAt is the part of the rows that are taken for flat.
	flatAt = 0.1
	// bendChance is the variance by chance times the number of rows of charts.
	bendChance = 0.3
	// bentReach is the size of these in units of the noise, and bentMost the most rows of one; the least are those of charts for thin parts.
	bentReach, bentMost = 14, 180
	// mostSeen bounds a square: charts between two faces see more noise than bending leaves.
	mostSeen = 9
	// leastBend is what flat places bend by at least, in units of what is seen there.
	leastBend = 0.1
	// leastPart and mostPart bound the number of neighbours of a row in units of that of all, and fewestByPlace by itself.
	leastPart, mostPart = 0.4, 1.5
	fewestByPlace       = 24
)

// measured tells whether a pilot looks for what has to be measured about some rows first.
func (s *setting) measured() bool { return s.thin || s.bent > 0 }

// widest is the number of rows of the largest charts that are measured.
func (s *setting) widest() int { return max(thinMany, s.bent) }

// known keeps the values that are above 0, which stands for what is not known.
func known(seen []float64) []float64 {
	return slices.DeleteFunc(seen, func(v float64) bool { return !(v > 0) })
}

// bendsOf is how much a surface bends by what charts of so many rows see about rows, 0 where nothing is. It changes their order.
func bendsOf(seen []float64, rows int) bending {
	if seen = known(seen); len(seen) == 0 {
		return bending{}
	}
	return bending{dense.Select(seen, int(flatAt*float64(len(seen)))), median(seen), bendChance / float64(rows)}
}

// sure is what is seen less chance.
func (b bending) sure(seen float64) float64 {
	d := seen - b.middle
	if d*d <= b.chance {
		return b.middle
	}
	return seen - b.chance/d
}

// part is the number of neighbours of a row, by what is seen about it, in units of that of all.
func (b bending) part(seen float64) float64 {
	if !(seen > 0) || b == (bending{}) {
		return 1
	}
	flat := b.sure(b.flat)
	bends := func(seen float64) float64 { return max(seen-flat, leastBend*flat) }
	return min(max(math.Sqrt(math.Sqrt(bends(b.middle)/bends(b.sure(seen)))), leastPart), mostPart)
}

// bentRows is the number of rows of charts that tell how much the surface bends, by the size of those of the pilot: 0, for which K is that of all places, unless
// charts of the pilot are larger than the noise, which is even, and K is not given.
func (p *autoPrepare) bentRows(s *setting, size float64) int {
	if !(p.oneIn(s) > 1) || s.neighbors != thinMany || s.uneven || p.grown || p.method.LeastSquares || p.method.Neighbors > 0 {
		return 0
	}
	wide := bentReach * s.Scale / size
	return min(max(int(thinMany*wide*wide), thinMany), bentMost)
}

// most is the largest number of neighbours of a row by what the surface bends by.
func (s *setting) most() int {
	if s.bends == (bending{}) {
		return s.neighbors
	}
	return int(mostPart * float64(s.neighbors))
}

// recall takes what has been measured about the rows gathered: the noise of charts of few and of many rows in units of their sizes, and the mean square of that
// which tells how much the surface bends, in units of that of all.
func (w *autoWorker) recall(s *setting) {
	w.few, w.many, w.bend = w.few[:0], w.many[:0], 0
	for _, f := range w.rows.Found {
		if seen := w.about[aboutWidth*f.Row:]; seen[0] > 0 {
			w.few, w.many = append(w.few, seen[0]), append(w.many, seen[1])
			noise := seen[2] / s.Scale
			w.bend += min(noise*noise, mostSeen)
		}
	}
	if w.bend > 0 {
		w.bend /= float64(len(w.few))
	}
}
