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
	// mostCuts bounds the cuts of a row.
	mostCuts = 128
	// coneCuts bounds those made for one cone before it is halved, and coneGrowth is the least
	// factor by which each of them must reach farther than the last.
	coneCuts, coneGrowth = 4, 1.2
	// coneAim is how far out the signs of a cut are taken, relative to where the sum
	// would be as low as the cut there were it a parabola.
	coneAim, coneCloser = 0.9, 0.55
	// coneRestarts bounds the lower places that are met while cones are looked at.
	coneRestarts = 6
)

// coneHalvings bounds how often a cone is halved, by d; coneWide is how often before places nearer
// by are tried.
var coneHalvings, coneWide = [maxBounded + 1]int{2: 14, 3: 24}, [maxBounded + 1]int{2: 2, 3: 9}

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
		var c cone
		far := 0.0
		for j := range d {
			c.rays[j][j] = 1
			if signs>>j&1 == 1 {
				c.rays[j][j] = -1
			}
			far += max(0, c.rays[j][j]*(b.centre[j]-s.tau[j])+b.half[j])
		}
		if found := s.coverCone(&c, 0, far, coneHalvings[d]); found != covered {
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

// coverCone looks at a cone from reached to far.
func (s *leastAbsolute) coverCone(c *cone, reached, far float64, halvings int) coverage {
	if s.work--; s.work < 0 {
		return open
	}
	d := s.f.Latent
	reached = max(reached, s.surroundings(c))
	corner := s.corner(c)
	reached = corner.in(c, d).extend(reached)
	s.seen = s.seen[:0]
	for made, aim := 0, coneAim; ; made++ {
		reached = s.extendAll(c, reached, far)
		if reached >= far {
			return covered
		}
		if !(reached > 0) || made == coneCuts || len(s.cuts) == mostCuts || s.work < s.f.D {
			break
		}
		if found := s.cutAhead(c, aim*reached); found != covered {
			return found
		}
		narrow := halvings <= coneHalvings[d]-coneWide[d]
		switch next := s.cuts[len(s.cuts)-1].in(c, d).extend(reached); {
		case next >= min(coneGrowth*reached, far):
		case next == reached && narrow && aim > coneCloser:
			aim = (aim + 0.5) / 2
		case next == reached && narrow && s.lowerAt(c, reached):
			return lower
		default:
			made = coneCuts - 1
		}
	}
	if halvings == 0 || len(s.cuts) == mostCuts {
		return open
	}
	first, second := c.halve(d)
	if found := s.coverCone(&first, reached, far, halvings-1); found != covered {
		return found
	}
	return s.coverCone(&second, reached, far, halvings-1)
}

// extendAll goes on by all cuts there are.
func (s *leastAbsolute) extendAll(c *cone, reached, far float64) float64 {
	for k := len(s.seen); k < len(s.cuts); k++ {
		s.seen = append(s.seen, s.cuts[k].in(c, s.f.Latent))
	}
	for before := -1.0; reached > before && reached < far; {
		before = reached
		for k := range s.seen {
			reached = s.seen[k].extend(reached)
		}
	}
	return reached
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

// coneCut is a bound below a cut in a cone, low + s slope + s^2 bend.
type coneCut struct{ low, slope, bend float64 }

// in bounds a cut in a cone. With t = tau + sum_i a_i rays_i, s = sum_i a_i,
//
//	q(t) >= low + s min_i g.rays_i + s^2 min_ij rays_i'B rays_j.
func (q *cut) in(c *cone, d int) coneCut {
	if d == 2 {
		return q.in2D(c)
	}
	slope, bend := math.Inf(1), math.Inf(1)
	for i := range d {
		r := &c.rays[i]
		if g := q.slope[0]*r[0] + q.slope[1]*r[1] + q.slope[2]*r[2]; g < slope {
			slope = g
		}
		x := q.bend[0][0]*r[0] + q.bend[0][1]*r[1] + q.bend[0][2]*r[2]
		y := q.bend[1][0]*r[0] + q.bend[1][1]*r[1] + q.bend[1][2]*r[2]
		z := q.bend[2][0]*r[0] + q.bend[2][1]*r[1] + q.bend[2][2]*r[2]
		for k := range i + 1 {
			if v := x*c.rays[k][0] + y*c.rays[k][1] + z*c.rays[k][2]; v < bend {
				bend = v
			}
		}
	}
	return coneCut{q.low, slope, bend}
}

// in2D is in for d = 2, written out.
func (q *cut) in2D(c *cone) coneCut {
	a, b, e, f := c.rays[0][0], c.rays[0][1], c.rays[1][0], c.rays[1][1]
	x, y, z := q.bend[0][0], q.bend[0][1], q.bend[1][1]
	u, v := x*a+y*b, y*a+z*b
	slope, bend := q.slope[0]*a+q.slope[1]*b, a*u+b*v
	if other := q.slope[0]*e + q.slope[1]*f; other < slope {
		slope = other
	}
	if other := e*u + f*v; other < bend {
		bend = other
	}
	if other := e*(x*e+y*f) + f*(y*e+z*f); other < bend {
		bend = other
	}
	return coneCut{q.low, slope, bend}
}

// extend returns up to where the bound is above the best sum, from reached on, or
// reached.
func (q coneCut) extend(reached float64) float64 {
	next := 0.0
	switch slope, bend := q.slope, q.bend; {
	case !(q.low+reached*(slope+reached*bend) >= 0):
		return reached
	case bend < 0:
		next = (slope + math.Sqrt(slope*slope-4*bend*q.low)) / (-2 * bend)
	case slope+2*reached*bend >= 0:
		return math.Inf(1)
	case bend > 0: // to the next zero
		disc := slope*slope - 4*bend*q.low
		if !(disc > 0) {
			return math.Inf(1)
		}
		next = 2 * q.low / (math.Sqrt(disc) - slope)
	default:
		next = -q.low / slope
	}
	if next > reached {
		return next
	}
	return reached
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

// onAxis returns the place on the axis of a cone that is as far along it as by times its
// rays.
func (s *leastAbsolute) onAxis(c *cone, by float64) place {
	d := s.f.Latent
	var axis place
	var square, unit float64
	for j := range d {
		for i := range d {
			axis[j] += c.rays[i][j] / float64(d)
		}
		square += axis[j] * axis[j]
	}
	for j := range d {
		unit += axis[j] * c.rays[0][j]
	}
	at := s.tau
	for j := range d {
		at[j] += by * unit / square * axis[j]
	}
	return at
}

// lowerAt looks for a lower place from one that no cut covers, where the sum is close to
// the best one: it is crossed by another valley there.
func (s *leastAbsolute) lowerAt(c *cone, reached float64) bool {
	if s.looks == 0 {
		return false
	}
	s.at = s.onAxis(c, reached)
	s.active = s.active[:0]
	s.work -= s.f.D
	if !(s.absoluteSum(&s.at) < s.best*(1+closeTo)) {
		return false
	}
	s.looks--
	if s.descend(); s.least < s.best*(1-boundSlack) {
		s.take()
		return true
	}
	return false
}

// halve cuts a cone across its longest edge.
func (c *cone) halve(d int) (first, second cone) {
	from, to, longest := 0, 1, 0.0
	for i := range d {
		for j := range i {
			square := 0.0
			for k := range d {
				square += (c.rays[i][k] - c.rays[j][k]) * (c.rays[i][k] - c.rays[j][k])
			}
			if square > longest {
				from, to, longest = i, j, square
			}
		}
	}
	first, second = *c, *c
	for j := range d {
		middle := (c.rays[from][j] + c.rays[to][j]) / 2
		first.rays[from][j], second.rays[to][j] = middle, middle
	}
	return first, second
}
