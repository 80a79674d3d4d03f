package nearest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// leastAbsolute finds the nearest point of a sheet under the sum of absolute residuals,
// for d up to 3, by branch and bound. As U'(f(tau) - x) = tau - U'(x - c), no point
// that is as near as one with the sum F is outside of
//
//	|tau_j - a_j| <= F max_k |U_kj|,   a = U'(x - c).
//
// That box is halved again and again. In a box
//
//	sum_k |r_k(t)| >= sum_k g_k r_k(t),   |g_k| <= 1,
//
// which is a quadratic in t. With g_k the sign of an entry that has no zero in the box,
// and else the value at the centre over the largest change, it is close to the sum, and
// the more so the smaller the box: a box whose bound is not below the best sum found is
// left out. At a minimum the multipliers give a bound that holds everywhere, and with
// the slopes of the zeros one that no point near by is below (see exclude).
type leastAbsolute struct {
	absoluteDescent
	best          float64
	tau           place      // where it is
	dual          polynomial // sum_k g_k r_k for the multipliers there
	zeros         []cut      // the active entries there, with the multiplier as low
	vertex        bool       // with W and H of exclude
	across, size  [maxBounded]place
	cuts          []polynomial
	seen          []float64 // those as seen from the best place, less the sum there: see cutTerms
	cells, halves *cells    // those to look at, and those for the next round
	first         *cells    // those that looking begins with
	signs         []int     // of their coordinates
	work          int       // left
	looks         int       // descents left from places of boxes close to the best one
	valleys       int       // those left from places of cones that no cut covers
	list          []int     // entries with zeros in the boxes around
	kinks         []kink    // of all entries, in order, where these are few and d = 1
	complete      bool
	point         []float64 // tau of the best one
}

const (
	// boundSlack is the decrease of the sum, relative to it, that is not looked for.
	boundSlack = 1e-10
	// boundWork bounds the enclosures of entries for a row, and boundRounds those of all of its entries
	// besides.
	boundWork, boundRounds = 1 << 17, 100
	// closeTo is how far above the best sum, relative to it, descents begin as well, as a
	// lower place often is near, and maxLooks how many do.
	closeTo, maxLooks = 1e-5, 5
)

// newLeastAbsolute prepares for a sheet, or returns nothing where the loss is no sum of
// absolute entries or d is above 3.
func newLeastAbsolute(f *sheet.Sheet, loss framework.Loss) *leastAbsolute {
	if !Bounded(f, loss) {
		return nil
	}
	s := &leastAbsolute{
		absoluteDescent: newAbsoluteDescent(f),
		point:           make([]float64, f.Latent),
		cells:           newCells(f.Latent),
		halves:          newCells(f.Latent),
		first:           newCells(f.Latent),
	}
	s.first.wholeSphere(coneFirst[f.Latent])
	s.signs = s.first.signs()
	return s
}

// Bounded reports whether a [Projector] searches the whole of tau by bounds.
func Bounded(f *sheet.Sheet, loss framework.Loss) bool {
	return sumOfAbsolutes(loss) && f.Latent <= maxBounded
}

// sumOfAbsolutes reports whether a loss is the sum of the absolute entries: a norm of
// every entry.
func sumOfAbsolutes(loss framework.Loss) bool {
	_, sum := loss.(framework.Separable)
	_, norm := loss.(framework.SupportFunction)
	return sum && norm
}

// find moves tau to the nearest point to x. It reports whether that is known to be the
// nearest of the whole sheet.
func (s *leastAbsolute) find(tau, x []float64) bool {
	d := s.f.Latent
	s.load(x, tau)
	if s.sweepsKinks() {
		s.sweep()
		s.complete = true
		s.point[0] = s.origin[0] + s.tau[0]
		tau[0] = s.point[0]
		return true
	}
	s.at, s.best, s.cuts, s.seen = place{}, math.Inf(1), s.cuts[:0], s.seen[:0]
	s.begin()
	s.take()
	s.work, s.looks, s.valleys, s.complete = boundWork+boundRounds*s.f.D, maxLooks, maxLooks, true
	s.bound()
	for j := range d {
		s.point[j] = s.origin[j] + s.tau[j]
	}
	copy(tau, s.point)
	return s.complete
}

// take makes the end of a descent the best one.
func (s *leastAbsolute) take() {
	s.best, s.tau = s.least, s.at
	s.vertex = false
	s.dual, s.zeros = s.sum, s.zeros[:0]
	d := s.f.Latent
	for a, k := range s.active {
		c := s.entry(k)
		z := cut{low: max(-1, min(1, s.lam[a])), slope: slopes(c[:], &s.at, d), bend: seconds(c[:], d)}
		z.halveBends()
		s.dual.add(z.low, c[:s.terms])
		s.zeros = append(s.zeros, z)
	}
	s.exclude()
	s.addCut(&s.dual)
}

// exclude finds where around a vertex the sum is not below that there. With J the slopes
// of its d zeros and lam their multipliers,
//
//	F(t) >= F + t'Bt + sum_k (1 - |lam_k|) |J_k t + t'C_k t|
//
// for every t from the vertex, with C_k their second derivatives and B those of the sum
// with multipliers, each by 1/2. With u = W t, W the rows (1 - |lam_k|) J_k, and H the
// sizes of all that is quadratic, in the coordinates u,
//
//	F(t) >= F + sum_k |u_k| (1 - sum_j H_kj |u_j|),
//
// which is not below F where H |u| <= 1 in every entry.
func (s *leastAbsolute) exclude() {
	d := s.f.Latent
	if len(s.active) < d {
		return
	}
	var w [maxBounded]place
	var by [maxBounded]place // columns of the inverse of W
	for a, k := range s.active {
		left := 1 - math.Abs(s.lam[a])
		if !(left > 0) {
			return
		}
		c := s.entry(k)
		w[a] = slopes(c[:], &s.at, d)
		for j := range d {
			w[a][j] *= left
			s.across[a][j] = w[a][j]
		}
	}
	if !invert(&by, &w, d) {
		return
	}
	s.bends(&by)
	s.vertex = true
}

// invert writes the columns of the inverse of w, given by rows; false where it has none.
func invert(by, w *[maxBounded]place, d int) bool {
	if d == 2 { // as most are
		det := w[0][0]*w[1][1] - w[0][1]*w[1][0]
		by[0][0], by[0][1], by[1][0], by[1][1] = w[1][1]/det, -w[1][0]/det, -w[0][1]/det, w[0][0]/det
		return math.Abs(det) > singularGram*(math.Abs(w[0][0]*w[1][1])+math.Abs(w[0][1]*w[1][0]))
	}
	for i := range d {
		var matrix [maxBounded * maxBounded]float64
		for a := range d {
			copy(matrix[a*d:(a+1)*d], w[a][:d])
		}
		by[i][i] = 1
		if !dense.Solve(matrix[:d*d], by[i][:d], d) {
			return false
		}
	}
	return true
}

// bends writes H, given the t of the units of u.
func (s *leastAbsolute) bends(by *[maxBounded]place) {
	d := s.f.Latent
	s.size = [maxBounded]place{}
	add := func(c []float64, factor float64, negative bool) {
		h := seconds(c, d)
		for i := range d {
			for j := range i + 1 {
				var v float64
				for k := range d {
					v += by[i][k] * dense.Dot(h[k][:d], by[j][:d])
				}
				v *= factor / 2
				if negative && i == j {
					v = min(v, 0) // F rises
				}
				s.size[i][j] += math.Abs(v)
				s.size[j][i] = s.size[i][j]
			}
		}
	}
	add(s.dual[:], 1, true)
	for a, k := range s.active {
		c := s.entry(k)
		add(c[:], 1-math.Abs(s.lam[a]), false)
	}
}

// bound looks at the boxes.
func (s *leastAbsolute) bound() {
	f := s.f
	var whole box
	for j := range f.Latent {
		// The centre is -U'r at the origin.
		whole.centre[j] = -floats.Dot(f.Axis(j), s.column(0))
		whole.half[j] = (1 + 1e-6) * s.best * s.reach[j]
	}
	for range coneRestarts {
		if s.higher(&whole) {
			return
		}
		switch s.cover(&whole) {
		case covered:
			return
		case lower:
			continue
		}
		break
	}
	s.list = s.list[:0]
	for k := range f.D {
		s.list = append(s.list, k)
	}
	s.visit(&whole, &polynomial{}, 0, f.D)
}

// visit looks at a box in which the entries of the list from lo to hi may vanish, and the
// sum of the others is decided.
func (s *leastAbsolute) visit(b *box, decided *polynomial, lo, hi int) {
	d, p := s.f.Latent, s.terms
	if s.work -= hi - lo + 1; s.work < 0 {
		s.complete = false
		return
	}
	if s.higher(b) {
		return
	}
	s.list = s.list[:hi]
	fixed, lower := *decided, polynomial{}
	at := s.decide(b, &fixed, &lower, s.list[lo:hi])
	top := len(s.list)
	at += value(fixed[:], &b.centre, d)
	near := at < s.best*(1+closeTo) && s.looks > 0
	if near {
		s.looks--
	}
	if near || at < s.best*(1-boundSlack) {
		s.at = b.centre
		if s.descend(); s.least < s.best {
			s.take()
		}
	}
	lower.add(1, fixed[:p])
	if least(lower[:], b, d) >= s.best*(1-boundSlack) {
		return
	}
	s.split(b, &fixed, hi, top)
}

// decide adds entries without a zero in a box to fixed, each with its sign, and the
// others to lower, each with its g_k, and to the list. It returns the sum of the latter
// at the centre.
func (s *leastAbsolute) decide(b *box, fixed, lower *polynomial, list []int) (at float64) {
	d := s.f.Latent
	if d == 2 {
		return s.decide2D(b, fixed, lower, list)
	}
	for _, k := range list {
		c := s.entry(k)
		v, change := enclose(c[:], b, d)
		if math.Abs(v) >= change {
			fixed.add(math.Copysign(1, v), c[:s.terms])
			continue
		}
		s.list = append(s.list, k)
		lower.add(v/change, c[:s.terms])
		at += math.Abs(v)
	}
	return at
}

// higher reports whether no point of a box is below the best one, by what is known of its
// surroundings and by its multipliers.
func (s *leastAbsolute) higher(b *box) bool {
	if s.surrounds(b) {
		return true
	}
	d, most := s.f.Latent, s.best*(1-boundSlack)
	for k := range s.cuts {
		whole := s.cuts[k][:]
		if d == maxBounded && value(whole, &b.centre, d) < most {
			continue // takes a third of the time of the bound, which is not above it
		}
		if least(whole, b, d) >= most {
			return true
		}
	}
	return false
}

// surrounds reports whether a box is within the surroundings that exclude found.
func (s *leastAbsolute) surrounds(b *box) bool {
	d := s.f.Latent
	if !s.vertex {
		return false
	}
	var far place // at least |u| in the box
	for a := range d {
		for j, w := range s.across[a][:d] {
			far[a] += w * (b.centre[j] - s.tau[j])
		}
		far[a] = math.Abs(far[a])
		for j, w := range s.across[a][:d] {
			far[a] += math.Abs(w) * b.half[j]
		}
	}
	for a := range d {
		if !(dense.Dot(s.size[a][:d], far[:d]) <= 1) {
			return false
		}
	}
	return true
}

// split halves a box across its longest side, and looks at the half with the best point,
// or next to it, first.
func (s *leastAbsolute) split(b *box, decided *polynomial, lo, hi int) {
	longest := 0
	for j := range s.f.Latent {
		if b.half[j] > b.half[longest] {
			longest = j
		}
	}
	half := b.half[longest] / 2
	if s.tau[longest] < b.centre[longest] {
		half = -half
	}
	for range 2 {
		part := *b
		part.half[longest] = math.Abs(half)
		part.centre[longest] += half
		s.visit(&part, decided, lo, hi)
		half = -half
	}
}
