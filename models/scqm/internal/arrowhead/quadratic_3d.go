package arrowhead

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// quadratic3D is [nearest.Quadratic] written out for surfaces in space, D = 3, d = 2,
// s = 1, without b and prior: the squared distance of
//
//	z(tau) = (x, y, t0 xx + t1 xy + t2 yy)
//
// from a point, or another quadratic form of their difference.
type quadratic3D struct {
	// t0, t1 and t2 are Theta.
	t0, t1, t2 float64
	// y is the point.
	y [3]float64
	// twice is two times the matrix of the form, nil for 2 I.
	twice *[9]float64
}

// value returns the form at tau = (x, y).
func (q *quadratic3D) value(x, y float64) float64 {
	e0, e1, e2 := x-q.y[0], y-q.y[1], q.t0*x*x+q.t1*x*y+q.t2*y*y-q.y[2]
	n := q.twice
	if n == nil {
		return e0*e0 + e1*e1 + e2*e2
	}
	v0, v1, v2 := n[0]*e0+n[1]*e1+n[2]*e2, n[3]*e0+n[4]*e1+n[5]*e2, n[6]*e0+n[7]*e1+n[8]*e2
	return (e0*v0 + e1*v1 + e2*v2) / 2
}

// derivatives returns gradient and Hessian at (x, y).
func (q *quadratic3D) derivatives(x, y float64) (g0, g1, h00, h01, h11 float64) {
	a, b := 2*q.t0*x+q.t1*y, q.t1*x+2*q.t2*y
	e0, e1, e2 := x-q.y[0], y-q.y[1], q.t0*x*x+q.t1*x*y+q.t2*y*y-q.y[2]
	n := q.twice
	if n == nil {
		v := 2 * e2
		return 2*e0 + v*a, 2*e1 + v*b, 2 + 2*a*a + 2*v*q.t0, 2*b*a + v*q.t1, 2 + 2*b*b + 2*v*q.t2
	}
	// The derivative of the form with respect to z is twice e; those of z with
	// respect to tau are (1, 0, a) and (0, 1, b).
	v0, v1, v2 := n[0]*e0+n[1]*e1+n[2]*e2, n[3]*e0+n[4]*e1+n[5]*e2, n[6]*e0+n[7]*e1+n[8]*e2
	w2 := n[7] + n[8]*b
	return v0 + v2*a, v1 + v2*b,
		n[0] + n[2]*a + (n[6]+n[8]*a)*a + 2*v2*q.t0, n[1] + n[2]*b + w2*a + v2*q.t1, n[4] + n[5]*b + w2*b + 2*v2*q.t2
}

// step takes a damped Newton step from (x, y), where the form is value, and
// returns the new place and the form there.
func (q *quadratic3D) step(x, y, value float64, tries int) (nx, ny, next float64) {
	g0, g1, h00, h01, h11 := q.derivatives(x, y)
	size := max(math.Abs(h00), math.Abs(h11), math.Abs(h01))
	det := h00*h11 - h01*h01
	dx, dy := (h01*g1-h11*g0)/det, (h01*g0-h00*g1)/det
	if !(h00 > dense.Flat*size) || !(det > dense.Flat*size*h00) {
		h, g, step := [4]float64{h00, h01, h01, h11}, [2]float64{g0, g1}, [2]float64{}
		dense.NewtonStep(step[:], h[:], g[:], dense.Flat)
		dx, dy = step[0], step[1]
	}
	slope, t := g0*dx+g1*dy, 1.0
	for try := range tries {
		nx, ny := x+t*dx, y+t*dy
		next := q.value(nx, ny)
		if nearest.Accepts(value, next, t, slope, try == 0) {
			return nx, ny, next
		}
		t = nearest.Shorten(t, value, next, slope)
	}
	return x, y, value
}
