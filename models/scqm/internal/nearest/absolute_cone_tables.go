package nearest

import "math"

// coneTerms are the values of a cut at tau + sum_i a_i rays_i, of slopes g.rays_i and bends
// rays_i'B rays_j, from 00, 10, 11 on.
type coneTerms struct {
	low   float64
	slope [maxBounded]float64
	bend  [maxBounded * (maxBounded + 1) / 2]float64
}

// coneCut is a bound below a cut in a cone, low + s slope + s^2 bend.
type coneCut struct{ low, slope, bend float64 }

// in writes a cut in the rays of a cone.
func (q *cut) in(c *cone, d int) (t coneTerms) {
	t.low = q.low
	at := 0
	for i := range d {
		r := &c.rays[i]
		t.slope[i] = q.slope[0]*r[0] + q.slope[1]*r[1] + q.slope[2]*r[2]
		x := q.bend[0][0]*r[0] + q.bend[0][1]*r[1] + q.bend[0][2]*r[2]
		y := q.bend[1][0]*r[0] + q.bend[1][1]*r[1] + q.bend[1][2]*r[2]
		z := q.bend[2][0]*r[0] + q.bend[2][1]*r[1] + q.bend[2][2]*r[2]
		for k := range i + 1 {
			t.bend[at] = x*c.rays[k][0] + y*c.rays[k][1] + z*c.rays[k][2]
			at++
		}
	}
	return t
}

// bound returns the bound of a cut: with s = sum_i a_i,
//
//	q(t) >= low + s min_i g.rays_i + s^2 min_ij rays_i'B rays_j.
func (t *coneTerms) bound(d int) coneCut {
	switch d {
	case 1:
		return coneCut{t.low, t.slope[0], t.bend[0]}
	case 2:
		return coneCut{t.low, min(t.slope[0], t.slope[1]), min(t.bend[0], t.bend[1], t.bend[2])}
	}
	return coneCut{
		t.low, min(t.slope[0], t.slope[1], t.slope[2]),
		min(min(t.bend[0], t.bend[1], t.bend[2]), min(t.bend[3], t.bend[4], t.bend[5])),
	}
}

// coneTable has those cuts that may serve in a cone, and the bound of each. Those of a half come from those of
// the whole in a few operations.
type coneTable struct {
	terms  []coneTerms
	bounds []coneCut
	count  int // of all cuts that were looked at
}

func (t *coneTable) clear() { t.terms, t.bounds, t.count = t.terms[:0], t.bounds[:0], 0 }

func (t *coneTable) last() coneCut { return t.bounds[len(t.bounds)-1] }

func (t *coneTable) add(c coneTerms, d int) {
	t.terms = append(t.terms, c)
	t.bounds = append(t.bounds, c.bound(d))
}

// bring takes the cuts that were made since.
func (t *coneTable) bring(cuts []cut, c *cone, d int) {
	for k := t.count; k < len(cuts); k++ {
		t.add(cuts[k].in(c, d), d)
	}
	t.count = len(cuts)
}

// halve takes cuts of a cone for that half of it in which the ray end is in the middle of
// what it was and of other. A cut less leaves more to prove, and nothing wrong.
func (t *coneTable) halve(whole *coneTable, d, end, other int, reached, far float64) {
	t.clear()
	t.count = whole.count
	if len(whole.terms) <= keptNear+keptMid {
		for k := range whole.terms {
			t.add(whole.terms[k].halved(d, end, other), d)
		}
		return
	}
	axis := middle(d, end, other)
	near, mid := keptAhead*reached, (reached+far)/2
	var nears, mids highest
	for k := range whole.terms {
		c := whole.terms[k].along(&axis)
		if !nears.offer(k, c.low+near*(c.slope+near*c.bend), keptNear) {
			mids.offer(k, c.low+mid*(c.slope+mid*c.bend), keptMid)
		}
	}
	for _, k := range nears.list[:nears.count] {
		t.add(whole.terms[k].halved(d, end, other), d)
	}
	for _, k := range mids.list[:mids.count] {
		t.add(whole.terms[k].halved(d, end, other), d)
	}
}

// middle returns the shares of the rays of a cone in the axis of a half of it.
func middle(d, end, other int) (by place) {
	for i := range d {
		by[i] = 1 / float64(d)
	}
	by[end] /= 2
	by[other] += by[end]
	return by
}

// along returns a cut on the axis with such shares of the rays.
func (t *coneTerms) along(by *place) coneCut {
	a, b, c := by[0], by[1], by[2]
	return coneCut{
		t.low, a*t.slope[0] + b*t.slope[1] + c*t.slope[2],
		a*(a*t.bend[0]+2*b*t.bend[1]+2*c*t.bend[3]) + b*(b*t.bend[2]+2*c*t.bend[4]) + c*c*t.bend[5],
	}
}

// halved returns a cut in the half of a cone.
func (t *coneTerms) halved(d, end, other int) coneTerms {
	c := *t
	own, across, others := pair(end, end), pair(end, other), t.bend[pair(other, other)]
	c.slope[end] = (t.slope[end] + t.slope[other]) / 2
	c.bend[own] = (t.bend[own] + 2*t.bend[across] + others) / 4
	c.bend[across] = (t.bend[across] + others) / 2
	if d == maxBounded {
		third := maxBounded - end - other
		c.bend[pair(end, third)] = (t.bend[pair(end, third)] + t.bend[pair(other, third)]) / 2
	}
	return c
}

// highest are the numbers of those with the largest values of all that were offered.
type highest struct {
	list   [max(keptNear, keptMid)]int
	values [max(keptNear, keptMid)]float64
	count  int
}

// offer takes k where its value is among the largest so many, and reports whether it did.
func (h *highest) offer(k int, v float64, most int) bool {
	at := h.count
	if at == most {
		if v <= h.values[at-1] {
			return false
		}
		at--
	} else {
		h.count++
	}
	for ; at > 0 && v > h.values[at-1]; at-- {
		h.values[at], h.list[at] = h.values[at-1], h.list[at-1]
	}
	h.values[at], h.list[at] = v, k
	return true
}

// pair is the place of a bend.
func pair(i, j int) int {
	if i < j {
		i, j = j, i
	}
	return i*(i+1)/2 + j
}

// extend goes on from reached by all cuts.
func (t *coneTable) extend(reached, far float64) float64 {
	for before := -1.0; reached > before && reached < far; {
		before = reached
		for k := range t.bounds {
			reached = t.bounds[k].extend(reached)
		}
	}
	return reached
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
