package chart

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Three quarters of the variance of a quadratic chart of a surface are the price of its curvature. That of neighbouring charts is nearly
// the same where a surface bends evenly, so that a ridge pulls the curvature of a chart to the mean of that of others near by, each carried to
// its frame, in place of 0. With S = U_j U' the rotation of the tangent planes is the polar factor R of S, that of the normal
// spaces the direct one,
//
//	G v = v - (U_j + R U)' (I + U_j U'R')^-1 R U v,
//
// and M_ab becomes sum_ce R_ca R_eb G M_ce.

// Bend is how a surface bends at a point: in the frame u, d x D, its second-order part is sum m_ab t_a t_b, m being d x d x D.
type Bend struct{ U, M []float64 }

func NewBend(d, D int) Bend { return Bend{make([]float64, d*D), make([]float64, d*d*D)} }

// leastCosine is that of the largest angle between tangent planes up to which charts say something of each other: beyond they are
// on another sheet, or round an edge.
const leastCosine = 0.3

// carrier carries curvature from one frame to another.
type carrier struct {
	d, D      int
	s, square []float64 // d x d
	axes, r   []float64 // d x d
	turned    []float64 // d x D: R U
	beside    []float64 // d
	v         []float64 // d*d x D
}

func newCarrier(d, D int) *carrier {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &carrier{d, D, vec(d * d), vec(d * d), vec(d * d), vec(d * d), vec(d * D), vec(d), vec(d * d * D)}
}

// Add adds to dst, d x d x D, how a surface bends elsewhere as it is in the frame u, times weight and the square of the least cosine between
// the tangent planes, and returns that product: 0 where they are too far apart.
func (c *carrier) Add(dst, u []float64, from Bend, weight float64) float64 {
	d, D := c.d, c.D
	for a := range d {
		for b := range d {
			c.s[a*d+b] = dense.Dot(from.U[a*D:(a+1)*D], u[b*D:(b+1)*D])
		}
	}
	for a := range d {
		for b := range d {
			c.square[a*d+b] = dense.Dot(c.s[a*d:(a+1)*d], c.s[b*d:(b+1)*d])
		}
	}
	dense.JacobiEigen(c.square, c.axes, d)
	least := math.Inf(1)
	for a := range d {
		least = min(least, c.square[a*d+a])
	}
	if !(least > leastCosine*leastCosine) {
		return 0
	}
	weight *= least
	c.turn(u)
	c.turnNormals(from)
	for a := range d {
		for b := range d {
			to := dst[(a*d+b)*D : (a*d+b+1)*D]
			for k := range d {
				for e := range d {
					floats.AddScaled(to, weight*c.r[k*d+a]*c.r[e*d+b], c.v[(k*d+e)*D:(k*d+e+1)*D])
				}
			}
		}
	}
	return weight
}

// turn makes R = W L^-1 W'S of SS' = W L^2 W', and R U.
func (c *carrier) turn(u []float64) {
	d, D := c.d, c.D
	clear(c.r)
	for k := range d {
		axis := c.axes[k*d : (k+1)*d]
		for b := range d {
			var along float64
			for e := range d {
				along += axis[e] * c.s[e*d+b]
			}
			along /= math.Sqrt(c.square[k*d+k])
			for a := range d {
				c.r[a*d+b] += axis[a] * along
			}
		}
	}
	clear(c.turned)
	for a := range d {
		for b := range d {
			floats.AddScaled(c.turned[a*D:(a+1)*D], c.r[a*d+b], u[b*D:(b+1)*D])
		}
	}
}

// turnNormals makes G M_ab; (I + U_j U'R')^-1 is W (I + L)^-1 W'.
func (c *carrier) turnNormals(from Bend) {
	d, D := c.d, c.D
	copy(c.v, from.M)
	for p := range d * d {
		v := c.v[p*D : (p+1)*D]
		for a := range d {
			c.beside[a] = dense.Dot(c.turned[a*D:(a+1)*D], from.M[p*D:(p+1)*D])
		}
		for k := range d {
			axis := c.axes[k*d : (k+1)*d]
			f := -dense.Dot(axis, c.beside) / (1 + math.Sqrt(c.square[k*d+k]))
			for a := range d {
				floats.AddScaled(v, f*axis[a], from.U[a*D:(a+1)*D])
				floats.AddScaled(v, f*axis[a], c.turned[a*D:(a+1)*D])
			}
		}
	}
}

// Draw is the curvature that a chart is drawn to: the mean of those of stored charts, each carried to the frame of the first, with memory to
// carry it to that of the chart at hand. Surfaces in space have one of their own, [spaceDraw].
type Draw struct {
	*carrier
	chart     *Surface // that reads stored ones; nil in space
	to, other Bend
	here      []float64 // d x d x D
	total     float64

	space spaceDraw
}

// NewDraw draws charts as c makes them.
func NewDraw(c Chart) *Draw {
	s, _ := c.(*Surface)
	if s == nil {
		return &Draw{}
	}
	return &Draw{carrier: newCarrier(s.d, s.D), chart: s, to: NewBend(s.d, s.D), other: NewBend(s.d, s.D), here: make([]float64, s.d*s.d*s.D)}
}

// Begin takes the frame of a stored chart for that of the mean.
func (w *Draw) Begin(own []float64) {
	w.total = 0
	if w.chart == nil {
		w.space.begin(own)
		return
	}
	w.chart.bend(w.to, own)
	clear(w.to.M)
}

// Include counts a stored chart in the mean, with weight times the square of the least cosine between the tangent planes.
func (w *Draw) Include(stored []float64, weight float64) {
	if w.chart == nil {
		w.total += w.space.include(stored, weight)
		return
	}
	w.chart.bend(w.other, stored)
	w.total += w.Add(w.to.M, w.to.U, w.other, weight)
}

// End makes the mean; it is false where no chart counts.
func (w *Draw) End() bool {
	if !(w.total > 0) {
		return false
	}
	dense.Scale(w.to.M, 1/w.total)
	w.space.scale(1 / w.total)
	return true
}

// in is the curvature in the frame u, 0 where that is too far from its own.
func (w *Draw) in(u []float64) []float64 {
	clear(w.here)
	if total := w.Add(w.here, u, w.to, 1); total > 0 {
		dense.Scale(w.here, 1/total)
	}
	return w.here
}

// bend reads how a stored chart bends.
func (c *Surface) bend(dst Bend, from []float64) {
	d, D := c.d, c.D
	n := D + copy(dst.U, from[D:D+d*D])
	b, unit := from[n+(1+d)*D:], from[n+c.p*D]
	at := 0
	for i := range d {
		for j := i; j < d; j++ {
			f := 1 / (unit * unit)
			if i != j {
				f /= 2
			}
			for l, v := range b[at*D : (at+1)*D] {
				dst.M[(i*d+j)*D+l], dst.M[(j*d+i)*D+l] = f*v, f*v
			}
			at++
		}
	}
}

// drawTo takes a curvature, nil for none, for what the ridge draws to in the frame at hand.
func (c *Surface) drawTo(w *Draw) {
	if w == nil {
		c.drawn = nil
		return
	}
	d, D := c.d, c.D
	c.drawn = dense.Grow(c.drawn, d*(d+1)/2*D)
	here, at := w.in(c.u), 0
	for i := range d {
		for j := i; j < d; j++ {
			f := c.unit * c.unit
			if i != j {
				f *= 2
			}
			floats.ScaleTo(c.drawn[at*D:(at+1)*D], f, here[(i*d+j)*D:(i*d+j+1)*D])
			at++
		}
	}
}
