package nearest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// quadratic2D moves latent coordinates of sheets with d = 2 towards the nearest
// point. It is [Quadratic.Minimize] written out: with M = Theta Theta' and t = Theta
// b the distance is
//
//	h(tau) = |a - tau|^2 + phi'M phi - 2 phi't + |b|^2,
//
// without s, and Newton's equations are two. The terms cancel where the sheet
// all but meets the row, which is left to Quadratic.
type quadratic2D struct {
	m00, m01, m02, m11, m12, m22 float64
}

// load takes Theta from f.
func (g *quadratic2D) load(f *sheet.Sheet) { g.loadWeighed(f, f.Theta) }

// loadWeighed takes Theta A Theta' for M, given Theta A.
func (g *quadratic2D) loadWeighed(f *sheet.Sheet, weighed []float64) {
	form := func(a, b int) float64 {
		return floats.Dot(f.Theta[a*f.S:(a+1)*f.S], weighed[b*f.S:(b+1)*f.S])
	}
	g.m00, g.m01, g.m02 = form(0, 0), form(0, 1), form(0, 2)
	g.m11, g.m12, g.m22 = form(1, 1), form(1, 2), form(2, 2)
}

// row2D is what h needs to know of a row.
type row2D struct {
	a0, a1     float64
	t0, t1, t2 float64
	bb         float64 // |b|^2
}

func (r *row2D) load(f *sheet.Sheet, ab []float64) {
	s, b := f.S, ab[2:]
	*r = row2D{a0: ab[0], a1: ab[1]}
	t0, t1, t2 := f.Theta[:s], f.Theta[s:2*s], f.Theta[2*s:3*s]
	for k, v := range b[:s] {
		r.t0 += t0[k] * v
		r.t1 += t1[k] * v
		r.t2 += t2[k] * v
		r.bb += v * v
	}
}

// value returns h and w = M phi - t.
func (g *quadratic2D) value(r *row2D, x, y float64) (h, w0, w1, w2 float64) {
	p0, p1, p2 := x*x, x*y, y*y
	w0 = g.m00*p0 + g.m01*p1 + g.m02*p2 - r.t0
	w1 = g.m01*p0 + g.m11*p1 + g.m12*p2 - r.t1
	w2 = g.m02*p0 + g.m12*p1 + g.m22*p2 - r.t2
	dx, dy := x-r.a0, y-r.a1
	return dx*dx + dy*dy + p0*(w0-r.t0) + p1*(w1-r.t1) + p2*(w2-r.t2) + r.bb, w0, w1, w2
}

// minimize takes at most so many Newton steps from tau, in place, as
// [Quadratic.Minimize] does. It reports false where it did not end well: h is not
// convex at a point on the way, a full step does not lower it, or too many
// digits cancel. Then tau may have moved to a point of lower h.
func (g *quadratic2D) minimize(tau, ab []float64, f *sheet.Sheet, steps int, precision float64) bool {
	var r row2D
	r.load(f, ab)
	x, y := tau[0], tau[1]
	h, w0, w1, w2 := g.value(&r, x, y)
	for range steps {
		if !(h > LostDigits*r.bb) {
			return false
		}
		g0, g1 := x-r.a0+2*w0*x+w1*y, y-r.a1+w1*x+2*w2*y
		// The Jacobian of phi has the columns (2x, y, 0) and (0, x, 2y).
		u, v := 2*x, 2*y
		mid, low := u*g.m01+y*g.m11, u*g.m02+y*g.m12
		h00 := 1 + 2*w0 + u*(u*g.m00+y*g.m01) + y*mid
		h01 := w1 + x*mid + v*low
		h11 := 1 + 2*w2 + x*(x*g.m11+v*g.m12) + v*(x*g.m12+v*g.m22)
		det := h00*h11 - h01*h01
		if size := h00 + h11; !(h00 > dense.Flat*size && det > dense.Flat*size*size) {
			return false
		}
		sx, sy := (h01*g1-h11*g0)/det, (h01*g0-h00*g1)/det
		next, n0, n1, n2 := g.value(&r, x+sx, y+sy)
		if !(next <= h+2*armijo*(g0*sx+g1*sy) || next <= h+rounding*r.bb) {
			return false
		}
		x, y, h, w0, w1, w2 = x+sx, y+sy, next, n0, n1, n2
		tau[0], tau[1] = x, y
		if sx*sx+sy*sy <= precision*precision*(x*x+y*y) {
			break
		}
	}
	return h > LostDigits*r.bb
}
