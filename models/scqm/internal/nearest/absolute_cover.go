package nearest

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// cut is a quadratic q(t) = sum_k g_k r_k(t), |g_k| <= 1, below the sum of absolute
// residuals, as seen from the best place: less the sum there.
type cut struct {
	low   float64
	slope place
	bend  [maxBounded]place // half of the second derivatives
}

const (
	// coneGrowth is the least factor by which a cut must reach farther than the last for its cell not to be halved.
	coneGrowth = 1.2
	// coneAim is how far out the signs of a cut are taken, relative to where the sum
	// would be as low as the cut there were it a parabola. In narrow cones they are then taken
	// nearer by and, from coneCloser on, right where the cone is open.
	coneAim, coneCloser, coneThere = 0.9, 0.65, 0.5
	// coneRestarts bounds the lower places that are met while cones are looked at.
	coneRestarts = 6
	// noVertex is the inverse of how far a cone is within no surroundings.
	noVertex = 1e300
)

// mostCuts bounds the cuts of a row, by d, coneHalvings how often a cone is halved, coneFirst is how often
// all are at first, and coneWide how often before it is narrow.
var (
	mostCuts     = [maxBounded + 1]int{1: 128, 2: 128, 3: 2048}
	coneHalvings = [maxBounded + 1]int{2: 14, 3: 24}
	coneFirst    = [maxBounded + 1]int{2: 2, 3: 3}
	coneWide     = [maxBounded + 1]int{2: 5, 3: 9}
)

// coverage is what looking at cones said.
type coverage int

const (
	covered coverage = iota // no point is lower
	lower                   // a descent from a place on the way ended lower
	open                    // nothing
)

// cover looks for cuts that show that no place of a box is below the best one. From there
// outwards a cut is above the best sum between two values of s in a cell,
// and the sum grows as fast as a convex function where noise is small beside the radius
// of curvature: the cuts at a few places around the best one then serve all that is
// farther out. Their number does not grow with that of entries. A cell in which they
// leave gaps is halved.
func (s *leastAbsolute) cover(b *box) coverage {
	for s.start(b); s.cells.count > 0; s.goOnWithHalves() {
		for s.cells.count > 0 {
			if found := s.extendLast(); found != covered {
				return found
			}
			s.cells.drop()
		}
	}
	return covered
}

// goOnWithHalves goes on with the cells that were halved, and looks at what all cuts say of them.
func (s *leastAbsolute) goOnWithHalves() {
	s.cells, s.halves = s.halves, s.cells
	copy(s.cells.table, s.halves.table)
	s.cells.begin()
	s.cells.repeat(s.seen)
}

// start makes the first cells.
func (s *leastAbsolute) start(b *box) {
	d, c := s.f.Latent, s.cells
	s.cuts, s.seen = s.cuts[:0], s.seen[:0]
	s.addCut(&s.dual)
	s.loadVertex()
	var far [1 << maxBounded]float64 // by signs
	for signs := range 1 << d {
		for j := range d {
			by := 1 - 2*float64(signs>>j&1)
			far[signs] += max(0, by*(b.centre[j]-s.tau[j])+b.half[j])
		}
	}
	c.copyFrom(s.first)
	s.halves.reset(0)
	for k := range c.count {
		*c.reached(k), *c.end(k) = 0, far[s.signs[k]]
	}
	c.begin()
}

// loadVertex writes the table of begin.
func (s *leastAbsolute) loadVertex() {
	d, t := s.f.Latent, s.cells.table
	clear(t)
	t[cellOne], t[cellMinus] = 1, -1
	n := cellCut + copy(t[cellCut:], s.seen[:cutTerms(d)])
	for a := range s.zeros {
		z := &s.zeros[a]
		to := t[n+a*(cutTerms(d)+2):]
		to[0], to[1], to[2] = z.low, 1-z.low, -1-z.low
		copy(to[3:], z.slope[:d])
		at := 3 + d
		for i := range d {
			for j := i; j < d; j++ {
				to[at] = z.bend[i][j]
				at++
			}
		}
	}
	n += d * (cutTerms(d) + 2)
	if t[cellFloor] = 0; !s.vertex {
		t[cellFloor] = noVertex
		return
	}
	for a := range d {
		copy(t[n+a*d:], s.across[a][:d])
		copy(t[n+d*d+a*d:], s.size[a][:d])
	}
}

// halveBends makes second derivatives half of what they were.
func (q *cut) halveBends() {
	for i := range q.bend {
		for j := range q.bend {
			q.bend[i][j] /= 2
		}
	}
}

// addCut adds a polynomial below the sum.
func (s *leastAbsolute) addCut(p *polynomial) {
	d := s.f.Latent
	s.cuts = append(s.cuts, *p)
	s.seen = append(s.seen, value(p[:], &s.tau, d)-s.best*(1-boundSlack))
	g := slopes(p[:], &s.tau, d)
	s.seen = append(s.seen, g[:d]...)
	a, most := d+1, 0.0
	for i := range d {
		s.seen = append(s.seen, p[a])
		most = max(most, math.Abs(p[a]))
		a++
		for j := i + 1; j < d; j++ {
			s.seen = append(s.seen, p[a]/2)
			most = max(most, math.Abs(p[a]/2))
			a++
		}
	}
	s.seen = append(s.seen, most*(1+0x1p-40)) // rounding of what rays have of it included
}

// extendLast makes cuts for the last cell, and looks at what they say of all, until it is covered. Where they do not say
// enough it is halved.
func (s *leastAbsolute) extendLast() coverage {
	c, k := s.cells, s.cells.count-1
	for c.open(k) {
		if s.work--; s.work < 0 {
			return open
		}
		reached := *c.reached(k)
		if found := s.cutsAhead(k, reached); found != covered {
			return found
		}
		if c.open(k) && !(*c.reached(k) >= coneGrowth*reached && reached > 0) {
			return s.halveLast()
		}
	}
	return covered
}

// halveLast halves the last cell; open where it cannot be halved.
func (s *leastAbsolute) halveLast() coverage {
	d, k := s.f.Latent, s.cells.count-1
	if s.cells.halvings[k] == coneHalvings[d] || len(s.cuts) == mostCuts[d] {
		return open
	}
	s.halves.halve(s.halves.add(s.cells, k))
	return covered
}

// cutsAhead makes a cut for a cell, or several where it is narrow and the first says nothing.
func (s *leastAbsolute) cutsAhead(k int, reached float64) coverage {
	c, d := s.cells, s.f.Latent
	narrow := c.halvings[k] >= coneWide[d]
	some := s.few.serves
	for aim := coneAim; reached > 0 && len(s.cuts) < mostCuts[d] && s.work >= s.f.D; {
		some = some && s.cutOfSome(k, aim*reached)
		if !some {
			if found := s.cutAhead(k, aim*reached); found != covered {
				return found
			}
		}
		c.extend(s.seen[len(s.seen)-cutSize(d):])
		switch stuck := *c.reached(k) == reached && (some || narrow); {
		case stuck && some:
			some = false
		case stuck && aim > coneThere:
			if aim = (aim + coneThere) / 2; aim < coneCloser {
				aim = coneThere
			}
		case stuck && s.valleys > 0:
			found := s.otherValley(k, reached)
			if found == covered {
				c.extend(s.seen[len(s.seen)-cutSize(d):])
			}
			return found
		default:
			return covered
		}
	}
	return covered
}

// cutAhead makes a cut by the signs at a place on the axis of a cell, beyond reached.
func (s *leastAbsolute) cutAhead(k int, middle float64) coverage {
	at := s.cells.onAxis(k, &s.tau, 2*middle)
	s.active = s.active[:0]
	s.work -= s.f.D
	if s.absoluteSum(&at) < s.best*(1-boundSlack) {
		s.at = at
		if s.descend(); s.least < s.best {
			s.take()
			return lower
		}
	}
	s.addCut(&s.sum)
	return covered
}

// cutOfSome is cutAhead for the sum of few, and does nothing where that is lower than the best sum: it
// is below that of all entries.
func (s *leastAbsolute) cutOfSome(k int, middle float64) bool {
	at := s.cells.onAxis(k, &s.tau, 2*middle)
	p, n := powers(&at, s.f.Latent), padded(len(s.few.chosen)+1)
	s.work -= n
	var sum polynomial
	if dense.SignedSums(sum[:s.terms], s.few.coef[:s.terms*n], p[:s.terms], n) < s.best*(1-boundSlack) {
		return false
	}
	s.addCut(&sum)
	return true
}

// otherValley descends from the place of a cell that no cut covers, where the sum is mostly close
// to the best one: it is crossed by another valley there. Where that is not lower, its
// multipliers give a cut, which is flat at its bottom as no cut of signs is.
func (s *leastAbsolute) otherValley(k int, reached float64) coverage {
	s.valleys--
	s.at = s.cells.onAxis(k, &s.tau, reached)
	s.work -= s.f.D
	s.descend()
	if s.least < s.best*(1-boundSlack) {
		s.take()
		return lower
	}
	s.addMultiplied()
	return covered
}

// addMultiplied adds the cut by the multipliers where a descent ended.
func (s *leastAbsolute) addMultiplied() {
	dual := s.sum
	for a, k := range s.active {
		c := s.entry(k)
		dual.add(max(-1, min(1, s.lam[a])), c[:s.terms])
	}
	s.addCut(&dual)
}
