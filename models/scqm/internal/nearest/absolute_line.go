package nearest

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// line is the sum of absolute residuals along a straight line t + s u, s > 0, where every
// entry is a quadratic in s: between the roots of these it is a quadratic itself.
type line struct {
	start  float64    // the sum at 0
	from   float64    // where the roots that are known begin
	smooth [3]float64 // of the sum between from and the first of these
	breaks []lineBreak
}

// lineBreak is a root at which the sum of the signed quadratics changes by jump.
type lineBreak struct {
	at    float64
	entry int
	jump  [3]float64
}

// begin starts with no entry.
func (l *line) begin() {
	l.start, l.from, l.smooth, l.breaks = 0, 0, [3]float64{}, l.breaks[:0]
}

// addRoots adds the roots, up to a bound, of a quadratic with its initial sign.
func (l *line) addRoots(entry int, sign float64, q [3]float64, to float64) {
	first, second := positiveRoots(sign*q[0], sign*q[1], sign*q[2])
	by := 2 * sign
	if first > l.from && first <= to {
		l.breaks = append(l.breaks, lineBreak{first, entry, [3]float64{-by * q[0], -by * q[1], -by * q[2]}})
	}
	if second > l.from && second <= to {
		l.breaks = append(l.breaks, lineBreak{second, entry, [3]float64{by * q[0], by * q[1], by * q[2]}})
	}
}

// positiveRoots returns the roots s > 0 of a + bs + cs^2 at which its sign changes, for
// a >= 0 and a quadratic that is not negative just after 0; 0 stands for none.
func positiveRoots(a, b, c float64) (first, second float64) {
	if b >= 0 && c >= 0 {
		return 0, 0
	}
	if c == 0 {
		return a / -b, 0
	}
	disc := b*b - 4*a*c
	if !(disc > 0) {
		return 0, 0
	}
	root := math.Sqrt(disc)
	if c < 0 { // one root is positive
		if b > 0 {
			return (b + root) / (-2 * c), 0
		}
		return 2 * a / (root - b), 0
	}
	return 2 * a / (root - b), (root - b) / (2 * c)
}

// falls reports whether the sum initially decreases, where all roots are known.
func (l *line) falls() bool {
	return l.smooth[1] < 0 || l.smooth[1] == 0 && l.smooth[2] < 0
}

// minimum returns a minimum 0 < s <= limit of the sum that is lower than the sum at 0, and
// the entry that vanishes there or -1, given that it falls at from. It takes
// expected time proportional to the number of entries: roots are left out by the slope
// and the sum at one in their middle.
func (l *line) minimum(limit float64) (s float64, entry int) {
	sum, low, high, list := l.smooth, l.from, limit, l.breaks
	for len(list) > 0 {
		at := median(list)
		before, under := cross(sum, list, func(b float64) bool { return b < at })
		after, upto := cross(before, list[under:], func(b float64) bool { return b <= at })
		upto += under
		switch {
		case at > limit || before[0]+at*(before[1]+at*before[2]) > l.start:
			high, list = min(high, at), list[:under]
		case after[1]+2*after[2]*at < 0:
			sum, low, list = after, at, list[upto:]
		case before[1]+2*before[2]*at <= 0:
			return at, list[under].entry
		default:
			high, list = min(high, at), list[:under]
		}
	}
	if !(sum[2] > 0) {
		return high, -1
	}
	return min(max(-sum[1]/(2*sum[2]), low), high), -1
}

// cross moves the roots for which within holds to the front, and returns the sum beyond them and their number.
func cross(sum [3]float64, list []lineBreak, within func(at float64) bool) ([3]float64, int) {
	count := 0
	for i := range list {
		if !within(list[i].at) {
			continue
		}
		for k, v := range list[i].jump {
			sum[k] += v
		}
		list[i], list[count] = list[count], list[i]
		count++
	}
	return sum, count
}

// median returns the middle one of three roots.
func median(list []lineBreak) float64 {
	a, b, c := list[0].at, list[len(list)/2].at, list[len(list)-1].at
	return max(min(a, b), min(max(a, b), c))
}

const (
	// fewEntries is the number of entries up to which all roots along a line are found.
	fewEntries = 12
	// lineBrackets bounds the evaluations that bracket a minimum along a line, and lineExpands is the factor of
	// its expansion while the sum falls.
	lineBrackets, lineExpands = 3, 3
)

// search prepares the sum along u, and returns the entry at 0 whose kink most prevents descent, or -1. Active
// entries except the leaving one count through their multipliers only, as the path follows their curvature.
func (s *absoluteDescent) search(u *point, let int) int {
	s.alongLine(u)
	n := s.stride
	q := s.quadratics
	s.held = 0
	for a, k := range s.active {
		q[k] = 0
		if a != let {
			s.held += s.lam[a] * q[2*n+k]
			q[n+k], q[2*n+k] = 0, 0
		}
	}
	l := &s.line
	l.begin()
	// The sum without what vanishes, as evaluated at the begin.
	d := s.f.Latent
	_, second := powersAlong(&s.at, u, d)
	g := slopes(s.sum[:], &s.at, d)
	l.smooth = [3]float64{value(s.sum[:], &s.at, d), dense.Dot(g[:d], u[:d]), dense.Dot(s.sum[:s.terms], second[:s.terms]) + s.held}
	l.start = l.smooth[0]
	block, most := -1, 0.0
	for k, v := range q[:s.count] {
		if v != 0 {
			continue
		}
		b, c := q[n+k], q[2*n+k]
		if b < 0 || b == 0 && c < 0 {
			b, c = -b, -c
		}
		l.smooth[1] += b
		l.smooth[2] += c
		if b > most && (let < 0 || k != s.active[let]) {
			block, most = k, b
		}
	}
	if s.bent {
		l.smooth[1] = min(0, l.smooth[1])
	}
	return block
}

// alongLine computes the quadratics of all entries along at + s u.
func (s *absoluteDescent) alongLine(u *point) {
	d, n := s.f.Latent, s.stride
	value := powers(&s.at, d)
	first, second := powersAlong(&s.at, u, d)
	dense.CombineColumns(s.quadratics[:n], s.coef, value[:s.terms])
	dense.CombineColumns(s.quadratics[n:2*n], s.coef[n:], first[1:s.terms])
	dense.CombineColumns(s.quadratics[2*n:3*n], s.coef[(1+d)*n:], second[1+d:s.terms])
}

// minimum returns the minimum of the line set up by search, up to a limit; see [line.minimum]. The sum is
// evaluated at a few points, and roots are only found within a bracket.
func (s *absoluteDescent) minimum(limit float64) (length float64, entry int) {
	n := s.stride
	whole := s.line // of which roots are not known
	to := limit
	if s.count > fewEntries {
		to = s.bracket(limit)
	}
	l := &s.line
	l.breaks = l.breaks[:0]
	low, high := s.ends[:n], s.ends[n:2*n]
	dense.CombineColumns(low, s.quadratics[:3*n], []float64{1, l.from, l.from * l.from})
	dense.CombineColumns(high, s.quadratics[:3*n], []float64{1, to, to * to})
	all := l.from == 0 && to == limit
	for k, v := range low[:s.count] {
		if !all && (v >= 0) == (high[k] >= 0) {
			continue
		}
		q := [3]float64{s.quadratics[k], s.quadratics[n+k], s.quadratics[2*n+k]}
		sign := 1.0
		if q[0] < 0 || q[0] == 0 && (q[1] < 0 || q[1] == 0 && q[2] < 0) {
			sign = -1
		}
		l.addRoots(k, sign, q, to)
	}
	length, entry = l.minimum(to)
	whole.breaks = l.breaks
	s.line = whole
	return length, entry
}

// bracket finds an interval with a minimum, up to limit, and returns its end; line.from is its start.
func (s *absoluteDescent) bracket(limit float64) float64 {
	l, n := &s.line, s.stride
	var sums [3]float64
	steep := dense.SignedSums(sums[:], s.quadratics, []float64{0, 1, 0}, n)
	// Were the entries that vanish spread as their sizes are.
	at := -l.smooth[1] / steep * l.start / steep
	to, slope, other := limit, l.smooth[1], math.NaN()
	for range lineBrackets {
		if !(at > l.from && at < to) {
			at = l.from + (to-l.from)/2
		}
		total := dense.SignedSums(sums[:], s.quadratics, []float64{1, at, at * at}, n)
		sums[2] += s.held
		here := sums[1] + 2*sums[2]*at
		if here >= 0 || total+s.held*at*at > l.start {
			to, other = at, here
		} else {
			l.from, l.smooth, slope = at, sums, here
		}
		switch {
		case other > 0:
			at = l.from + (to-l.from)*max(0.1, min(0.9, slope/(slope-other)))
		case math.IsNaN(other):
			at *= lineExpands
		default:
			at = l.from + (to-l.from)/2
		}
	}
	return to
}
