package nearest

import (
	"math"
)

// kink is a root of an entry, at which the sum of the signed quadratics changes by jump.
type kink struct {
	at   float64
	jump [3]float64
}

// sweepsKinks reports whether all kinks are looked at in their order: for d = 1 and a few entries
// that is the whole search, with nothing to prove.
func (s *leastAbsolute) sweepsKinks() bool { return s.f.Latent == 1 && s.f.D <= fewEntries }

// sweep finds the least sum of all t for d = 1, and writes best and tau. Between neighbouring roots of
// the entries, a + bt + ct^2, the sum is a quadratic, whose coefficients follow from those before the root; it
// is least at a root or where one of these has its minimum. No t is lower that is farther out than
// the box of [leastAbsolute.bound].
func (s *leastAbsolute) sweep() {
	a, b, c := s.column(0), s.column(1), s.column(2)
	centre, first := 0.0, 0.0
	for k, v := range a {
		centre -= v * s.f.Axis(0)[k]
		first += math.Abs(v)
	}
	half := (1 + 1e-6) * first * s.reach[0]
	low, high := centre-half, centre+half
	sum := s.collectKinks(low, high)
	least, tau, from := first, 0.0, low
	try := func(at float64) {
		if v := sum[0] + at*(sum[1]+at*sum[2]); v < least {
			least, tau = v, at
		}
	}
	for k := 0; ; k++ {
		to := high
		if k < len(s.kinks) {
			to = s.kinks[k].at
		}
		if sum[2] > 0 {
			if at := -sum[1] / (2 * sum[2]); at > from && at < to {
				try(at)
			}
		}
		if k == len(s.kinks) {
			break
		}
		try(to)
		from = to
		for j, v := range s.kinks[k].jump {
			sum[j] += v
		}
	}
	s.best, s.tau = 0, place{tau}
	for k, v := range a {
		s.best += math.Abs(v + tau*(b[k]+tau*c[k]))
	}
}

// collectKinks lists the roots between low and high in their order, and returns the sum after low.
func (s *leastAbsolute) collectKinks(low, high float64) (sum [3]float64) {
	a, b, c := s.column(0), s.column(1), s.column(2)
	s.kinks = s.kinks[:0]
	for k := range a {
		q := [3]float64{a[k], b[k], c[k]}
		sign, roots, count := quadraticRoots(q)
		for _, at := range roots[:count] {
			if at <= low {
				sign = -sign
			}
		}
		left := sign
		for _, at := range roots[:count] {
			if at > low && at < high {
				by := -2 * left
				s.insert(kink{at, [3]float64{by * q[0], by * q[1], by * q[2]}})
				left = -left
			}
		}
		for j, v := range q {
			sum[j] += sign * v
		}
	}
	return sum
}

// insert adds a kink in its order.
func (s *leastAbsolute) insert(v kink) {
	at := len(s.kinks)
	s.kinks = append(s.kinks, v)
	for ; at > 0 && s.kinks[at-1].at > v.at; at-- {
		s.kinks[at] = s.kinks[at-1]
	}
	s.kinks[at] = v
}

// quadraticRoots returns the roots of q[0] + q[1] t + q[2] t^2 at which its sign changes, in
// increasing order, and its sign before the first.
func quadraticRoots(q [3]float64) (sign float64, roots [2]float64, count int) {
	a, b, c := q[0], q[1], q[2]
	if c == 0 {
		if b == 0 {
			return math.Copysign(1, a), roots, 0
		}
		roots[0] = -a / b
		return math.Copysign(1, -b), roots, 1
	}
	sign = math.Copysign(1, c)
	discriminant := b*b - 4*a*c
	if !(discriminant > 0) {
		return sign, roots, 0
	}
	whole := -(b + math.Copysign(math.Sqrt(discriminant), b)) / 2
	roots[0], roots[1] = whole/c, a/whole
	if roots[0] > roots[1] {
		roots[0], roots[1] = roots[1], roots[0]
	}
	return sign, roots, 2
}
