package nearest

import (
	"math"
	"slices"
)

// Kinks finds the minimum of a sum of absolute values of quadratics a + bt + ct^2. Between neighbouring roots the sum
// is one quadratic, updated from interval to interval. The minimum is at a root, at the vertex of one of these
// quadratics, or at an end.
type Kinks struct{ list []kink }

// kink is a root of quadratic k, with the sign of the quadratic after the root.
type kink struct {
	at, sign float64
	k        int
}

// Least returns the minimum of the sum over from < t <= to, and its minimiser. from and to may be infinite.
func (s *Kinks) Least(a, b, c []float64, from, to float64) (least, at float64) {
	sum := s.collect(a, b, c, from, to)
	least = math.Inf(1)
	try := func(t float64) {
		if v := sum[0] + t*(sum[1]+t*sum[2]); v < least {
			least, at = v, t
		}
	}
	for i := 0; ; i++ {
		end := to
		if i < len(s.list) {
			end = s.list[i].at
		}
		if t := -sum[1] / (2 * sum[2]); sum[2] > 0 && t > from && t < end {
			try(t)
		}
		if !math.IsInf(end, 1) {
			try(end)
		}
		if i == len(s.list) {
			return least, at
		}
		from = end
		k, by := s.list[i].k, 2*s.list[i].sign
		sum[0] += by * a[k]
		sum[1] += by * b[k]
		sum[2] += by * c[k]
	}
}

// collect lists the roots in an interval in ascending order, and returns the sum before the first.
func (s *Kinks) collect(a, b, c []float64, from, to float64) (sum [3]float64) {
	s.list = s.list[:0]
	reach := max(-from, to)
	for k := range a {
		sign, roots, count := math.Copysign(1, a[k]), [2]float64{}, 0
		if !(math.Abs(a[k]) > reach*(math.Abs(b[k])+reach*math.Abs(c[k]))) { // it may vanish
			sign, roots, count = quadraticRoots([3]float64{a[k], b[k], c[k]})
		}
		first := sign
		for _, at := range roots[:count] {
			if sign = -sign; at <= from {
				first = sign
			} else if at <= to {
				s.list = append(s.list, kink{at, sign, k})
			}
		}
		sum[0] += first * a[k]
		sum[1] += first * b[k]
		sum[2] += first * c[k]
	}
	slices.SortFunc(s.list, func(a, b kink) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	return sum
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
