package nearest

import "math"

// cut is a quadratic q(t) = sum_k g_k r_k(t), |g_k| <= 1, below the sum of absolute
// residuals, as seen from the best place: less the sum there.
type cut struct {
	low   float64
	slope place
	bend  [maxBounded]place // half of the second derivatives
	whole polynomial
}

const (
	// coneCuts bounds those made for one cone before it is halved, and coneGrowth is the least
	// factor by which each of them must reach farther than the last.
	coneCuts, coneGrowth = 4, 1.2
	// coneAim is how far out the signs of a cut are taken, relative to where the sum
	// would be as low as the cut there were it a parabola. In narrow cones they are then taken
	// nearer by and, from coneCloser on, right where the cone is open.
	coneAim, coneCloser, coneThere = 0.9, 0.65, 0.5
	// coneRestarts bounds the lower places that are met while cones are looked at.
	coneRestarts = 6
	// mostHalvings is the largest of coneHalvings.
	mostHalvings = 24
	// keptNear and keptMid are the cuts that one half of a cone takes over: those that are
	// highest on its axis keptAhead times as far out as it is open, and half of the way to its end.
	keptNear, keptMid, keptAhead = 12, 4, 1.3
)

// mostCuts bounds the cuts of a row, by d, coneHalvings how often a cone is halved, and coneWide
// is how often before it is narrow.
var (
	mostCuts     = [maxBounded + 1]int{1: 128, 2: 128, 3: 512}
	coneHalvings = [maxBounded + 1]int{2: 14, 3: mostHalvings}
	coneWide     = [maxBounded + 1]int{2: 5, 3: 9}
)

// coverage is what looking at cones said.
type coverage int

const (
	covered coverage = iota // no point is lower
	lower                   // a descent from a place on the way ended lower
	open                    // nothing
)

// cone is that of the places tau + sum_i a_i rays_i, a_i >= 0, with rays whose entries
// have sizes that add up to 1 and one sign in each coordinate: s = sum_i a_i is the sum
// of the sizes of the coordinates from tau.
type cone struct{ rays [maxBounded]place }

// cover looks for cuts that show that no place of a box is below the best one. From there
// outwards a cut is above the best sum between two values of s in a cone (see between),
// and the sum grows as fast as a convex function where noise is small beside the radius
// of curvature: the cuts at a few places around the best one then serve all that is
// farther out. Their number does not grow with that of entries. A cone in which they
// leave gaps is halved.
func (s *leastAbsolute) cover(b *box) coverage {
	d := s.f.Latent
	s.cuts = s.cuts[:0]
	s.addCut(&s.dual)
	for signs := range 1 << d {
		c := &s.cones[0]
		*c = cone{}
		far := 0.0
		for j := range d {
			c.rays[j][j] = 1
			if signs>>j&1 == 1 {
				c.rays[j][j] = -1
			}
			far += max(0, c.rays[j][j]*(b.centre[j]-s.tau[j])+b.half[j])
		}
		s.tables[0].clear()
		if found := s.coverCone(c, 0, far, 0); found != covered {
			return found
		}
	}
	return covered
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
	c := cut{low: value(p[:], &s.tau, d) - s.best*(1-boundSlack), slope: slopes(p[:], &s.tau, d), bend: seconds(p[:], d), whole: *p}
	c.halveBends()
	s.cuts = append(s.cuts, c)
}

// coverCone looks at a cone from reached to far, after so many halvings, whose cuts are in the
// table of that number.
func (s *leastAbsolute) coverCone(c *cone, reached, far float64, halvings int) coverage {
	if s.work--; s.work < 0 {
		return open
	}
	d := s.f.Latent
	reached = max(reached, s.surroundings(c))
	corner := s.corner(c)
	there := corner.in(c, d)
	reached = there.bound(d).extend(reached)
	reached, found := s.extendCone(c, reached, far, halvings)
	if found != covered || reached >= far {
		return found
	}
	if halvings == coneHalvings[d] || len(s.cuts) == mostCuts[d] {
		return open
	}
	table := &s.tables[halvings]
	from, to := c.longest(d)
	for _, end := range [2]int{to, from} {
		table.bring(s.cuts, c, d) // with those that the first half has made
		s.tables[halvings+1].halve(table, d, end, from+to-end, reached, far)
		half := &s.cones[halvings+1]
		*half = *c
		for j := range d {
			half.rays[end][j] = (c.rays[from][j] + c.rays[to][j]) / 2
		}
		if found := s.coverCone(half, reached, far, halvings+1); found != covered {
			return found
		}
	}
	return covered
}

// extendCone goes on from reached by the cuts that there are, and by new ones as long as these
// reach farther. It returns how far, and lower where a lower place was met.
func (s *leastAbsolute) extendCone(c *cone, reached, far float64, halvings int) (float64, coverage) {
	d, table := s.f.Latent, &s.tables[halvings]
	narrow := halvings >= coneWide[d]
	for made, aim := 0, coneAim; ; {
		table.bring(s.cuts, c, d)
		reached = table.extend(reached, far)
		if reached >= far || !(reached > 0) || made >= coneCuts || len(s.cuts) == mostCuts[d] || s.work < s.f.D {
			return reached, covered
		}
		if found := s.cutAhead(c, aim*reached); found != covered {
			return reached, found
		}
		made++
		table.bring(s.cuts, c, d)
		switch next := table.last().extend(reached); {
		case next >= min(coneGrowth*reached, far):
		case next == reached && narrow && aim > coneThere:
			made--
			if aim = (aim + coneThere) / 2; aim < coneCloser {
				aim = coneThere
			}
		case next == reached && narrow && s.valleys > 0:
			if found := s.otherValley(c, reached); found != covered {
				return reached, found
			}
		default:
			made = coneCuts
		}
	}
}

// surroundings returns how far a cone is within the surroundings that exclude found.
func (s *leastAbsolute) surroundings(c *cone) float64 {
	if !s.vertex {
		return 0
	}
	d := s.f.Latent
	var far place // at least |u| for s = 1
	for a := range d {
		for i := range d {
			u := 0.0
			for j := range d {
				u += s.across[a][j] * c.rays[i][j]
			}
			far[a] = max(far[a], math.Abs(u))
		}
	}
	most := 0.0
	for a := range d {
		sum := 0.0
		for k := range d {
			sum += s.size[a][k] * far[k]
		}
		most = max(most, sum)
	}
	return 1 / most
}

// corner is the cut at the best place with those signs of the entries that vanish there
// that they have in a cone, and their multipliers where they have both.
func (s *leastAbsolute) corner(c *cone) cut {
	d := s.f.Latent
	q := s.cuts[0]
	for a := range s.zeros {
		z := &s.zeros[a]
		low, high := math.Inf(1), math.Inf(-1)
		for i := range d {
			u := 0.0
			for j := range d {
				u += z.slope[j] * c.rays[i][j]
			}
			low, high = min(low, u), max(high, u)
		}
		by := -z.low
		switch {
		case low >= 0:
			by++
		case high <= 0:
			by--
		default:
			continue
		}
		for i := range d {
			q.slope[i] += by * z.slope[i]
			for j := range d {
				q.bend[i][j] += by * z.bend[i][j]
			}
		}
	}
	return q
}

// cutAhead makes a cut by the signs at a place on the axis of a cone, beyond reached.
func (s *leastAbsolute) cutAhead(c *cone, middle float64) coverage {
	at := s.onAxis(c, 2*middle)
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

// onAxis returns the place on the axis of a cone, the mean of its rays, that is at s.
func (s *leastAbsolute) onAxis(c *cone, at float64) place {
	d := s.f.Latent
	t := s.tau
	for j := range d {
		for i := range d {
			t[j] += at / float64(d) * c.rays[i][j]
		}
	}
	return t
}

// otherValley descends from the place of a cone that no cut covers, where the sum is mostly close
// to the best one: it is crossed by another valley there. Where that is not lower, its
// multipliers give a cut, which is flat at its bottom as no cut of signs is.
func (s *leastAbsolute) otherValley(c *cone, reached float64) coverage {
	s.valleys--
	s.at = s.onAxis(c, reached)
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

// longest returns the rays between which a cone is widest.
func (c *cone) longest(d int) (from, to int) {
	most := 0.0
	to = 1
	for i := range d {
		for j := range i {
			square := 0.0
			for k := range d {
				square += (c.rays[i][k] - c.rays[j][k]) * (c.rays[i][k] - c.rays[j][k])
			}
			if square > most {
				from, to, most = i, j, square
			}
		}
	}
	return from, to
}
