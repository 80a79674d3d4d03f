package nearest

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// coneOrders are the orders of one and of two coordinates. The 48 cones for three are
// more than they save.
var coneOrders = [maxBounded + 1][][2]int{1: {{0}}, 2: {{0, 1}, {1, 0}}}

// narrow leaves out what is known to be higher of a box around the best point: it becomes
// the surroundings outside of which no point of it is below that.
func (s *leastAbsolute) narrow(b *box) {
	d := s.f.Latent
	var far float64
	for j := range d {
		far = max(far, math.Abs(b.centre[j]-s.tau[j])+b.half[j])
	}
	for radius := max(s.radius, far*firstCone); len(coneOrders[d]) > 0 && radius < far; radius *= 2 {
		if !s.surrounded(radius, far/radius) {
			continue
		}
		for j := range d {
			low := max(b.centre[j]-b.half[j], s.tau[j]-radius)
			high := min(b.centre[j]+b.half[j], s.tau[j]+radius)
			b.centre[j], b.half[j] = (low+high)/2, (high-low)/2
		}
		return
	}
}

// surrounded reports whether no point with a coordinate farther than radius from the best
// one, and none farther than far times that, is below that. The 2^d d! cones in which the
// sizes of coordinates, from there, have one order, and these one sign each, are looked
// at one by one. The sum is close to convex where noise is small beside the radius of
// curvature, and then one bound serves a whole cone.
func (s *leastAbsolute) surrounded(radius, far float64) bool {
	d := s.f.Latent
	for _, order := range coneOrders[d] {
		for signs := range 1 << d {
			var rays [maxBounded]place
			for i := range d {
				for _, j := range order[:i+1] {
					rays[i][j] = radius
					if signs>>j&1 == 1 {
						rays[i][j] = -radius
					}
				}
			}
			if !s.coneHigher(&rays, far) {
				return false
			}
		}
	}
	return true
}

const (
	// firstCone is where cones begin, relative to the box.
	firstCone = 1.0 / 32
	// coneBounds bounds the bounds for one cone, and coneGrowth is the least factor by
	// which each of them must reach farther than the last.
	coneBounds, coneGrowth = 4, 1.2
	// coneAim is how far out the signs of a bound are taken, relative to where the sum
	// would be as low as the bound there were it a parabola.
	coneAim = 0.9
)

// coneHigher reports whether no point a cone, from the ends of its rays to far times
// these, is below the best one. With t = sum_i a_i rays_i, a_i >= 0, s = sum_i a_i, and
// the signs of the entries at a point on the axis of the cone,
//
//	sum_k |r_k(t)| >= q(t) >= q(0) + s min_i g.rays_i + s^2 min_ij rays_i'B rays_j.
func (s *leastAbsolute) coneHigher(rays *[maxBounded]place, far float64) bool {
	d := s.f.Latent
	var axis place
	var square, unit float64
	for j := range d {
		for i := range d {
			axis[j] += rays[i][j] / float64(d)
		}
		square += axis[j] * axis[j]
	}
	unit = dense.Dot(axis[:d], rays[0][:d])
	reached := 1.0
	for range coneBounds {
		aim := 2 * coneAim * reached * unit / square
		var at place
		for j := range d {
			at[j] = s.tau[j] + aim*axis[j]
		}
		s.active = s.active[:0]
		s.work -= s.f.D
		s.absoluteSum(&at)
		low, slope, bend := s.coneBound(rays)
		if !(low+reached*(slope+reached*bend) >= 0) {
			return false
		}
		next := math.Inf(1)
		if bend < 0 {
			next = (slope + math.Sqrt(slope*slope-4*bend*low)) / (-2 * bend)
		} else if slope < 0 {
			return false
		}
		switch {
		case next >= far:
			return true
		case next < coneGrowth*reached:
			return false
		}
		reached = next
	}
	return false
}

// coneBound returns the three numbers of the bound for the signs taken last, less the
// best sum.
func (s *leastAbsolute) coneBound(rays *[maxBounded]place) (low, slope, bend float64) {
	d := s.f.Latent
	low = value(s.sum[:], &s.tau, d) - s.best*(1-boundSlack)
	g, h := slopes(s.sum[:], &s.tau, d), seconds(s.sum[:], d)
	slope, bend = math.Inf(1), math.Inf(1)
	for i := range d {
		slope = min(slope, dense.Dot(g[:d], rays[i][:d]))
		for j := range i + 1 {
			var sum float64
			for k := range d {
				sum += rays[i][k] * dense.Dot(h[k][:d], rays[j][:d])
			}
			bend = min(bend, sum/2)
		}
	}
	return low, slope, bend
}
