package nearest

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// Quadratic3D is [Quadratic] written out for surfaces in space, D = 3, d = 2,
// s = 1, without b and prior: the squared distance of
//
//	z(tau) = (x, y, T0 xx + T1 xy + T2 yy)
//
// from a point, or another quadratic form of their difference.
type Quadratic3D struct {
	// T0, T1 and T2 are Theta.
	T0, T1, T2 float64
	// Y is the point.
	Y [3]float64
	// Twice is two times the matrix of the form, nil for 2 I.
	Twice *[9]float64
}

// Value returns the form at tau = (x, y).
func (q *Quadratic3D) Value(x, y float64) float64 {
	e0, e1, e2 := x-q.Y[0], y-q.Y[1], q.T0*x*x+q.T1*x*y+q.T2*y*y-q.Y[2]
	n := q.Twice
	if n == nil {
		return e0*e0 + e1*e1 + e2*e2
	}
	v0, v1, v2 := n[0]*e0+n[1]*e1+n[2]*e2, n[3]*e0+n[4]*e1+n[5]*e2, n[6]*e0+n[7]*e1+n[8]*e2
	return (e0*v0 + e1*v1 + e2*v2) / 2
}

// derivatives returns gradient and Hessian at (x, y).
func (q *Quadratic3D) derivatives(x, y float64) (g0, g1, h00, h01, h11 float64) {
	a, b := 2*q.T0*x+q.T1*y, q.T1*x+2*q.T2*y
	e0, e1, e2 := x-q.Y[0], y-q.Y[1], q.T0*x*x+q.T1*x*y+q.T2*y*y-q.Y[2]
	n := q.Twice
	if n == nil {
		v := 2 * e2
		return 2*e0 + v*a, 2*e1 + v*b, 2 + 2*a*a + 2*v*q.T0, 2*b*a + v*q.T1, 2 + 2*b*b + 2*v*q.T2
	}
	// The derivative of the form with respect to z is Twice e; those of z with
	// respect to tau are (1, 0, a) and (0, 1, b).
	v0, v1, v2 := n[0]*e0+n[1]*e1+n[2]*e2, n[3]*e0+n[4]*e1+n[5]*e2, n[6]*e0+n[7]*e1+n[8]*e2
	w2 := n[7] + n[8]*b
	return v0 + v2*a, v1 + v2*b,
		n[0] + n[2]*a + (n[6]+n[8]*a)*a + 2*v2*q.T0, n[1] + n[2]*b + w2*a + v2*q.T1, n[4] + n[5]*b + w2*b + 2*v2*q.T2
}

// Step takes a damped Newton step from (x, y), where the form is value, and
// returns the new place and the form there.
func (q *Quadratic3D) Step(x, y, value float64, tries int) (nx, ny, next float64) {
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
		next := q.Value(nx, ny)
		if Accepts(value, next, t, slope, try == 0) {
			return nx, ny, next
		}
		t = Shorten(t, value, next, slope)
	}
	return x, y, value
}
