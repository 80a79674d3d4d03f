package nearest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// sextic is a form P of degree 6 on the plane. Along directions with P < 0, a stationary point can be left for a
// nearer one. It also holds u'(I + 2B)u, which is negative wherever P is. On unit vectors P is a trigonometric
// polynomial of degree 6, whose second derivative is at most 36 times its largest value (S. Bernstein). An arc is
// discarded if P at both ends exceeds this bound times width^2/8; other arcs are halved.
type sextic struct {
	square [5]float64 // |q(u)|^2, by powers of u_2
	cross  [4]float64 // Nu . q(u)
	full   [3]float64 // u'Hu
	part   [3]float64 // u'(I + 2B)u
	power  [7]float64 // P
	slack  float64    // rounding of P
	bend   float64    // of P: largest second derivative
	stack  [maxHalvings]arc
}

// arc is an interval of angles with the values of P at its ends.
type arc struct{ from, to, first, last float64 }

const (
	// maxHalvings bounds how often one arc is halved; maxArcs bounds the number of arcs examined.
	maxHalvings, maxArcs = 32, 1 << 16
	// sexticRounding is the rounding of P in units of its largest term.
	sexticRounding = 0x1p-47
)

// load takes the forms at tau. h is H, part is I + 2B, and theta is Theta, or Theta A_V in the metric of a loss.
func (p *sextic) load(f *sheet.Sheet, theta, h, part, tau []float64) {
	form := func(a, b int) float64 { return floats.Dot(f.Theta[a*f.S:(a+1)*f.S], theta[b*f.S:(b+1)*f.S]) }
	m00, m01, m02, m11, m12, m22 := form(0, 0), form(0, 1), form(0, 2), form(1, 1), form(1, 2), form(2, 2)
	x, y := tau[0], tau[1]
	p.square = [5]float64{m00, 2 * m01, m11 + 2*m02, 2 * m12, m22}
	// Column j of M times the derivative of phi.
	a0, a1, a2 := 2*x*m00+y*m01, 2*x*m01+y*m11, 2*x*m02+y*m12
	b0, b1, b2 := x*m01+2*y*m02, x*m11+2*y*m12, x*m12+2*y*m22
	p.cross = [4]float64{a0, a1 + b0, a2 + b1, b2}
	p.full = [3]float64{h[0], h[1] + h[2], h[3]}
	p.part = [3]float64{part[0], part[1] + part[2], part[3]}
}

// search calls lower with directions in which P is negative, or 0 to rounding, until one call returns true. It
// returns false if none does.
func (p *sextic) search(lower func(u, v float64) bool) bool {
	p.expand()
	// u'(I + 2B)u is mean + radius cos(2 angle - phase).
	mean, phase := (p.part[0]+p.part[2])/2, math.Atan2(p.part[1], p.part[0]-p.part[2])
	radius, half := math.Hypot(p.part[0]-p.part[2], p.part[1])/2, math.Pi/2
	if radius > 0 {
		half = math.Acos(min(max(mean/radius, -1), 1)) / 2
	}
	middle := (phase + math.Pi) / 2
	p.stack[0] = arc{middle - half, middle + half, p.value(middle - half), p.value(middle + half)}
	for top, left := 0, maxArcs; top >= 0 && left > 0; left-- {
		a := p.stack[top]
		below := p.bend * (a.to - a.from) * (a.to - a.from) / 8
		if top--; min(a.first, a.last)-below > p.slack {
			continue
		}
		middle := (a.from + a.to) / 2
		value := p.value(middle)
		least := below <= p.slack || top+2 >= maxHalvings
		if sin, cos := math.Sincos(middle); (value <= p.slack || least) && lower(cos, sin) {
			return true
		}
		if !least {
			p.stack[top+1], p.stack[top+2] = arc{middle, a.to, value, a.last}, arc{a.from, middle, a.first, value}
			top += 2
		}
	}
	return false
}

// expand computes the coefficients of P.
func (p *sextic) expand() {
	p.power, p.slack, p.bend = [7]float64{}, 0, 0
	add := func(i int, v float64) {
		p.power[i] += v
		p.slack = max(p.slack, sexticRounding*math.Abs(v))
	}
	for i, s := range p.square {
		for j, f := range p.full {
			add(i+j, s*f)
		}
	}
	for i, s := range p.cross {
		for j, t := range p.cross {
			add(i+j, -s*t)
		}
	}
	for _, v := range p.power {
		p.bend += 36 * math.Abs(v)
	}
}

// value returns P at an angle.
func (p *sextic) value(angle float64) float64 {
	v, u := math.Sincos(angle)
	sum, by := p.power[6], 1.0
	for i := 5; i >= 0; i-- {
		by *= u
		sum = sum*v + p.power[i]*by
	}
	return sum
}
