package nearest

import (
	"cmp"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// leastAbsolute searches the nearest point of a sheet in the l1 norm, for d up to maxAbsolute. For d = 1 it is
// exact: see [kinks]. Otherwise it is the lowest of the minima reached by descents from several starts.
type leastAbsolute struct {
	absoluteDescent
	kinks kinks
	best  float64
	tau   point // where it is
}

// HasAbsoluteDescent reports whether a [Projector] minimises l1 itself by descents along kinks.
func HasAbsoluteDescent(f *sheet.Sheet, loss framework.Loss) bool {
	return sumOfAbsolutes(loss) && f.Latent <= maxAbsolute
}

// sumOfAbsolutes reports whether a loss is the sum of the absolute entries: a norm of
// every entry.
func sumOfAbsolutes(loss framework.Loss) bool {
	_, sum := loss.(framework.Separable)
	ball, norm := loss.(rowloss.SupportFunction)
	if !sum || !norm {
		return false
	}
	ends := []float64{math.Inf(-1), math.Inf(1)}
	ball.ProjectDual(ends, 1)
	return ends[0] == -1 && ends[1] == 1
}

// newLeastAbsolute prepares for a sheet. It returns nil where the loss is not l1 or d is above maxAbsolute.
func newLeastAbsolute(f *sheet.Sheet, loss framework.Loss) *leastAbsolute {
	if !HasAbsoluteDescent(f, loss) {
		return nil
	}
	return &leastAbsolute{absoluteDescent: newAbsoluteDescent(f)}
}

// begin starts at tau, a nearest point to x in the Euclidean norm.
func (s *leastAbsolute) begin(tau, x []float64) {
	s.load(x, tau)
	if s.tau = (point{}); s.f.Latent == 1 {
		s.best, s.tau[0] = s.kinks.least(s.column(0), s.column(1), s.column(2))
		return
	}
	s.at = point{}
	s.descend()
	s.best, s.tau = s.least, s.at
}

// lower reports whether the sum at a point is below the best so far.
func (s *leastAbsolute) lower(tau []float64) bool {
	s.moveTo(tau)
	s.active = s.active[:0]
	return s.absoluteSum(&s.at) < s.best
}

// from descends from another start.
func (s *leastAbsolute) from(tau []float64) {
	s.moveTo(tau)
	if s.descend(); s.least < s.best {
		s.best, s.tau = s.least, s.at
	}
}

func (s *leastAbsolute) moveTo(tau []float64) {
	s.at = point{}
	for j, v := range tau {
		s.at[j] = v - s.origin[j]
	}
}

// end writes the nearest point found.
func (s *leastAbsolute) end(tau []float64) {
	for j := range tau {
		tau[j] = s.origin[j] + s.tau[j]
	}
}

// kinks are the roots of quadratics a + bt + ct^2. Between neighbouring roots the sum of their absolute values
// is one quadratic, updated from interval to interval; its minimum is at a root or at the vertex of one of
// these quadratics.
type kinks struct{ list []kink }

// kink is a root of quadratic k, after which the quadratic has this sign.
type kink struct {
	at, sign float64
	k        int
}

// least returns the minimum of the sum over t, and the minimiser.
func (s *kinks) least(a, b, c []float64) (least, at float64) {
	sum := s.collect(a, b, c)
	for _, v := range a {
		least += math.Abs(v)
	}
	from := math.Inf(-1)
	try := func(t float64) {
		if v := sum[0] + t*(sum[1]+t*sum[2]); v < least {
			least, at = v, t
		}
	}
	for k := 0; ; k++ {
		to := math.Inf(1)
		if k < len(s.list) {
			to = s.list[k].at
		}
		if sum[2] > 0 {
			if t := -sum[1] / (2 * sum[2]); t > from && t < to {
				try(t)
			}
		}
		if k == len(s.list) {
			break
		}
		try(to)
		from = to
		by, q := 2*s.list[k].sign, s.list[k].k
		sum[0] += by * a[q]
		sum[1] += by * b[q]
		sum[2] += by * c[q]
	}
	return least, at
}

// collect lists the roots in ascending order, and returns the sum before the first.
func (s *kinks) collect(a, b, c []float64) (sum [3]float64) {
	s.list = s.list[:0]
	for k := range a {
		sign, roots, count := quadraticRoots([3]float64{a[k], b[k], c[k]})
		sum[0] += sign * a[k]
		sum[1] += sign * b[k]
		sum[2] += sign * c[k]
		for _, at := range roots[:count] {
			sign = -sign
			s.list = append(s.list, kink{at, sign, k})
		}
	}
	slices.SortFunc(s.list, func(a, b kink) int { return cmp.Compare(a.at, b.at) })
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
