package nearest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

const (
	// manyEntries is the number of entries from which a first descent goes by some of them.
	manyEntries = 96
	// fewReach is how large the residual of an entry is, in units of how far the slopes of
	// entries take one where tau goes as far as residuals are large on average, up to which it may
	// change its sign in the first descent, and fewSlack what rounding adds to their sum.
	fewReach, fewSlack = 1.0, 1e-12
)

// few are the entries of a row that may change their signs near the origin, and as one more the
// sum of all others, each with its sign there. The sum of their sizes is that of all
// entries where no other has changed its sign, and below it everywhere.
type few struct {
	chosen []int
	coef   []float64
	serves bool // for this row
}

// begin goes from the origin to a minimum next to it. Where entries are many, a descent with
// those that are small ends there for a fraction of the work; it goes on with all where another has
// changed its sign.
func (s *absoluteDescent) begin() {
	s.few.serves = false
	if s.near && s.guess() {
		s.goOn()
		return
	}
	s.at = place{}
	if s.few.serves = s.f.D >= manyEntries && s.choose(); !s.few.serves {
		s.descend()
		return
	}
	coef, stride, others := s.coef, s.stride, len(s.few.chosen)
	s.count = others + 1
	s.stride = padded(s.count)
	s.coef = s.few.coef[:s.terms*s.stride]
	s.descend()
	s.coef, s.stride, s.count = coef, stride, s.f.D
	below, same := s.least, true
	for a, k := range s.active {
		if k == others {
			s.active, same = s.active[:0], false
			break
		}
		s.active[a] = s.few.chosen[k]
	}
	if s.least = s.absoluteSum(&s.at); !same || s.least > below*(1+fewSlack) {
		s.descend()
	}
}

// guess holds the smallest entries at the origin at 0, as many as tau has, and goes to where they vanish; false
// where that is no place or the sum is larger.
func (s *absoluteDescent) guess() bool {
	d := s.f.Latent
	var list [maxBounded]int
	var sizes place
	for a := range d {
		sizes[a] = math.Inf(1)
	}
	before := 0.0
	for k, v := range s.column(0) {
		v = math.Abs(v)
		if before += v; v >= sizes[d-1] {
			continue
		}
		a := d - 1
		for ; a > 0 && v < sizes[a-1]; a-- {
			sizes[a], list[a] = sizes[a-1], list[a-1]
		}
		sizes[a], list[a] = v, k
	}
	s.at, s.active = place{}, append(s.active[:0], list[:d]...)
	s.least = before
	if s.restore() {
		s.least = s.absoluteSum(&s.at)
	}
	return s.least < before
}

// choose collects the entries that are small at the origin, and reports whether they are few.
func (s *absoluteDescent) choose() bool {
	at := s.column(0)
	reach := fewReach * floats.Norm(at, 1) / float64(s.f.D) * floats.Sum(s.reach[:s.f.Latent])
	chosen := s.few.chosen[:0]
	for k, v := range at {
		if math.Abs(v) <= reach {
			chosen = append(chosen, k)
		}
	}
	s.few.chosen = chosen
	if len(chosen) > s.f.D/2 {
		return false
	}
	n := padded(len(chosen) + 1)
	if s.few.coef == nil {
		s.few.coef = make([]float64, s.terms*padded(s.f.D/2+1))
	}
	var all polynomial
	origin := polynomial{1}
	dense.SignedSums(all[:s.terms], s.coef, origin[:s.terms], s.stride)
	for a := range s.terms {
		to, from := s.few.coef[a*n:(a+1)*n], s.column(a)
		sum := all[a]
		for i, k := range chosen {
			to[i] = from[k]
			if at[k] != 0 {
				sum -= math.Copysign(1, at[k]) * from[k]
			}
		}
		to[len(chosen)] = sum
		clear(to[len(chosen)+1:])
	}
	return true
}

// padded is the length of a column of n entries.
func padded(n int) int {
	return (n + dense.PolynomialBlock - 1) / dense.PolynomialBlock * dense.PolynomialBlock
}
