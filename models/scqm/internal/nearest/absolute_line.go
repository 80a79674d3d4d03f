package nearest

import (
	"github.com/scqm/scqm/internal/dense"
)

// search prepares the sum along u. It reports whether the sum falls, and returns the entry at 0 whose kink most
// prevents that, or -1. Active entries except the leaving one count through their multipliers only, as the path
// follows their curvature.
func (s *absoluteDescent) search(u *point, let int) (falls bool, block int) {
	d, n, q := s.f.Latent, s.stride, s.quadratics
	value := powers(&s.at, d)
	first, second := powersAlong(&s.at, u, d)
	dense.CombineColumns(q[:n], s.coef, value[:s.terms])
	dense.CombineColumns(q[n:2*n], s.coef[n:], first[1:s.terms])
	dense.CombineColumns(q[2*n:3*n], s.coef[(1+d)*n:], second[1+d:s.terms])
	s.held = 0
	for a, k := range s.active {
		q[k] = 0
		if a != let {
			s.held += s.lam[a] * q[2*n+k]
			q[n+k], q[2*n+k] = 0, 0
		}
	}
	// The sum without what vanishes, as evaluated at the begin.
	g := slopes(s.sum[:], &s.at, d)
	slope, bend := dense.Dot(g[:d], u[:d]), dense.Dot(s.sum[:s.terms], second[:s.terms])+s.held
	block, most := -1, 0.0
	for k, v := range q[:s.count] {
		if v != 0 {
			continue
		}
		b, c := q[n+k], q[2*n+k]
		if b < 0 || b == 0 && c < 0 {
			b, c = -b, -c
		}
		slope += b
		bend += c
		if b > most && (let < 0 || k != s.active[let]) {
			block, most = k, b
		}
	}
	return slope < 0 || slope == 0 && bend < 0, block
}

// minimum returns the minimum along the line set up by search, up to a limit, and the entry that vanishes there
// or -1.
func (s *absoluteDescent) minimum(limit float64) (length float64, entry int) {
	n, q := s.stride, s.quadratics
	_, length, entry = s.kinks.Least(q[:s.count], q[n:n+s.count], q[2*n:2*n+s.count], s.held, 0, limit)
	return length, entry
}
