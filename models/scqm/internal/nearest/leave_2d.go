package nearest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// sextic is the form P of degree 6 whose negative values are the directions in the
// plane in which a stationary point can be left for a nearer one, with u'(I + 2B)u,
// which is negative wherever P is. Both are held by their Bernstein coefficients
// on an interval of directions: the form is no less than the least of them there,
// and halving the interval brings them closer to the form (P. de Casteljau).
//
// Source: G. Farin, Curves and Surfaces for CAGD, chapters 4 and 5.
type sextic struct {
	square [5]float64                  // |q(u)|^2, by powers of u_2
	cross  [4]float64                  // Nu . q(u)
	full   [3]float64                  // u'Hu
	part   [3]float64                  // u'(I + 2B)u
	stack  [maxHalvings + 2]sexticPart // intervals to look at, the last one first
}

// sexticPart is an interval of directions (1, t), or (t, 1) where turned.
type sexticPart struct {
	lo, hi float64
	six    [7]float64
	two    [3]float64
}

const (
	// maxHalvings bounds the halvings of an interval of directions, maxIntervals
	// the intervals looked at; narrow is the length that is not halved.
	maxHalvings  = 30
	maxIntervals = 4096
	narrow       = 0x1p-28
	// sexticRounding is the rounding of P in units of its largest coefficient.
	sexticRounding = 0x1p-47
)

// load takes the forms at tau: h is H, weighed the columns of B as [sheet.Sheet]
// weighs them, and theta Theta, or Theta A_V in the metric of a loss.
func (p *sextic) load(f *sheet.Sheet, theta, h, tau, weighed []float64) {
	form := func(a, b int) float64 { return floats.Dot(f.Theta[a*f.S:(a+1)*f.S], theta[b*f.S:(b+1)*f.S]) }
	m00, m01, m02, m11, m12, m22 := form(0, 0), form(0, 1), form(0, 2), form(1, 1), form(1, 2), form(2, 2)
	x, y := tau[0], tau[1]
	p.square = [5]float64{m00, 2 * m01, m11 + 2*m02, 2 * m12, m22}
	// Column j of M times the derivative of phi.
	a0, a1, a2 := 2*x*m00+y*m01, 2*x*m01+y*m11, 2*x*m02+y*m12
	b0, b1, b2 := x*m01+2*y*m02, x*m11+2*y*m12, x*m12+2*y*m22
	p.cross = [4]float64{a0, a1 + b0, a2 + b1, b2}
	p.full = [3]float64{h[0], h[1] + h[2], h[3]}
	p.part = [3]float64{1 + 2*weighed[0], 2 * weighed[1], 1 + 2*weighed[2]}
}

// search calls lower with directions in which P is negative, or 0 to Rounding,
// until one call reports true. It reports false where none does.
func (p *sextic) search(lower func(u, v float64) bool) bool {
	return p.searchChart(lower) || p.turned().searchChart(func(v, u float64) bool { return lower(u, v) })
}

// turned swaps the two coordinates.
func (p *sextic) turned() *sextic {
	for i := range 2 {
		p.square[i], p.square[4-i] = p.square[4-i], p.square[i]
		p.cross[i], p.cross[3-i] = p.cross[3-i], p.cross[i]
	}
	p.full[0], p.full[2] = p.full[2], p.full[0]
	p.part[0], p.part[2] = p.part[2], p.part[0]
	return p
}

// searchChart searches the directions (1, t), |t| <= 1.
func (p *sextic) searchChart(lower func(u, v float64) bool) bool {
	slack := p.begin()
	for top, left := 0, maxIntervals; top >= 0 && left > 0; left-- {
		at, right := &p.stack[top], &p.stack[top+1]
		if slices.Min(at.six[:]) > slack || slices.Min(at.two[:]) > 0 {
			top--
			continue
		}
		middle := (at.lo + at.hi) / 2
		last := at.hi-at.lo <= narrow || slices.Max(at.six[:])-slices.Min(at.six[:]) <= slack
		value := halve(at.six[:], right.six[:])
		if (value <= slack || last) && lower(1, middle) {
			return true
		}
		if last {
			top--
			continue
		}
		halve(at.two[:], right.two[:])
		right.lo, right.hi = middle, at.hi
		at.hi = middle
		top++
	}
	return false
}

// begin puts all directions of the chart on the stack, and returns the rounding error of P.
func (p *sextic) begin() (slack float64) {
	var power [7]float64
	for i, s := range p.square {
		for j, f := range p.full {
			power[i+j] += s * f
			slack = max(slack, math.Abs(s*f))
		}
	}
	for i, s := range p.cross {
		for j, t := range p.cross {
			power[i+j] -= s * t
			slack = max(slack, math.Abs(s*t))
		}
	}
	first := &p.stack[0]
	first.lo, first.hi = -1, 1
	for k, row := range bernstein6 {
		first.six[k] = 0
		for i, v := range power {
			first.six[k] += row[i] * v
		}
	}
	a, b, c := p.part[0], p.part[1], p.part[2]
	first.two = [3]float64{a - b + c, a - c, a + b + c}
	return sexticRounding * slack
}

// bernstein6 turns powers of t up to 6 into Bernstein coefficients on [-1, 1].
var bernstein6 = bernstein()

// bernstein expands t^i = (p - q)^i (p + q)^(6-i) with p = (1 + t)/2, q = (1 - t)/2
// by the products p^k q^(6-k) = b_k / binomial(6, k).
func bernstein() (rows [7][7]float64) {
	const n = 6
	for k := range rows {
		for i := range rows[k] {
			for j := max(0, k-(n-i)); j <= min(i, k); j++ {
				sign := 1 - 2*((i-j)%2)
				rows[k][i] += float64(sign*combin.Binomial(i, j)*combin.Binomial(n-i, k-j)) / float64(combin.Binomial(n, k))
			}
		}
	}
	return rows
}

// halve turns the coefficients on an interval into those on its two halves and
// returns the value in the middle.
func halve(left, right []float64) float64 {
	n := len(left) - 1
	right[n] = left[n]
	for step := 1; step <= n; step++ {
		for k := n; k >= step; k-- {
			left[k] = (left[k] + left[k-1]) / 2
		}
		right[n-step] = left[n]
	}
	return left[n]
}
