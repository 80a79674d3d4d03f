package nearest

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

const (
	// fewEntries is the number of entries up to which all roots along a line are found.
	fewEntries = 12
	// lineBrackets bounds the evaluations along a line between which the roots of other
	// rows are found, and lineExpands is the factor by which it goes farther where the sum still
	// falls.
	lineBrackets, lineExpands = 3, 3
)

// search lays the sum along u, and returns an entry that is 0 at first and keeps it from
// falling most, or -1. Active entries but for the one that is let go count with their
// multipliers only: the way bends with them.
func (s *absoluteDescent) search(u *place, let int) int {
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
func (s *absoluteDescent) alongLine(u *place) {
	d, n := s.f.Latent, s.stride
	value := powers(&s.at, d)
	first, second := powersAlong(&s.at, u, d)
	dense.CombineColumns(s.quadratics[:n], s.coef, value[:s.terms])
	dense.CombineColumns(s.quadratics[n:2*n], s.coef[n:], first[1:s.terms])
	dense.CombineColumns(s.quadratics[2*n:3*n], s.coef[(1+d)*n:], second[1+d:s.terms])
}

// minimum is that of the line that search laid, up to a limit; see [line.minimum].
// The sum is evaluated at a few places, and roots are found between two of them only.
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

// bracket finds a part of the line, up to limit, that has a minimum, and returns its end;
// line.from is where it begins.
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
