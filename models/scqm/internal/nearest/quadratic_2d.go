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
		r.t0 += float64(t0[k] * v)
		r.t1 += float64(t1[k] * v)
		r.t2 += float64(t2[k] * v)
		r.bb += float64(v * v)
	}
}

// quartic2D is h at a point, with phi and w = M phi - t.
type quartic2D struct{ x, y, p0, p1, p2, w0, w1, w2, h float64 }

// value returns h at a point. Here and below conversions keep products from being fused with
// their sums, so that bits are those of the kernels of [SurfaceFeet].
func (g *quadratic2D) value(r *row2D, x, y float64) quartic2D {
	q := quartic2D{x: x, y: y, p0: x * x, p1: x * y, p2: y * y}
	q.w0 = float64(g.m00*q.p0) + float64(g.m01*q.p1) + float64(g.m02*q.p2) - r.t0
	q.w1 = float64(g.m01*q.p0) + float64(g.m11*q.p1) + float64(g.m12*q.p2) - r.t1
	q.w2 = float64(g.m02*q.p0) + float64(g.m12*q.p1) + float64(g.m22*q.p2) - r.t2
	dx, dy := x-r.a0, y-r.a1
	q.h = float64(dx*dx) + float64(dy*dy) + float64(q.p0*(q.w0-r.t0)) + float64(q.p1*(q.w1-r.t1)) + float64(q.p2*(q.w2-r.t2)) + r.bb
	return q
}

// step returns Newton's step, the slope along it, and whether h is convex.
func (g *quadratic2D) step(r *row2D, q *quartic2D) (sx, sy, slope float64, convex bool) {
	x, y := q.x, q.y
	g0 := x - r.a0 + float64(2*q.w0*x) + float64(q.w1*y)
	g1 := y - r.a1 + float64(q.w1*x) + float64(2*q.w2*y)
	// The Jacobian of phi has the columns (2x, y, 0) and (0, x, 2y).
	u, v := 2*x, 2*y
	mid, low := float64(u*g.m01)+float64(y*g.m11), float64(u*g.m02)+float64(y*g.m12)
	h00 := 1 + 2*q.w0 + float64(u*(float64(u*g.m00)+float64(y*g.m01))) + float64(y*mid)
	h01 := q.w1 + float64(x*mid) + float64(v*low)
	h11 := 1 + 2*q.w2 + float64(x*(float64(x*g.m11)+float64(v*g.m12))) + float64(v*(float64(x*g.m12)+float64(v*g.m22)))
	det, size := float64(h00*h11)-float64(h01*h01), h00+h11
	if !(h00 > dense.Flat*size && det > dense.Flat*size*size) {
		return 0, 0, 0, false
	}
	sx, sy = (float64(h01*g1)-float64(h11*g0))/det, (float64(h01*g0)-float64(h00*g1))/det
	return sx, sy, float64(g0*sx) + float64(g1*sy), true
}

// minimize takes at most so many Newton steps from tau, in place, as
// [Quadratic.Minimize] does. It reports false where it did not end well: h is not
// convex at a point on the way, a full step does not lower it, or too many
// digits cancel. Then tau may have moved to a point of lower h.
func (g *quadratic2D) minimize(tau, ab []float64, f *sheet.Sheet, steps int, precision float64) bool {
	var r row2D
	r.load(f, ab)
	at := g.value(&r, tau[0], tau[1])
	for range steps {
		if !(at.h > LostDigits*r.bb) {
			return false
		}
		sx, sy, slope, convex := g.step(&r, &at)
		if !convex {
			return false
		}
		next := g.value(&r, at.x+sx, at.y+sy)
		if !(next.h <= at.h+float64(2*armijo*slope) || next.h <= at.h+float64(rounding*r.bb)) {
			return false
		}
		at = next
		tau[0], tau[1] = at.x, at.y
		if float64(sx*sx)+float64(sy*sy) <= float64(precision*precision*(at.p0+at.p2)) {
			break
		}
	}
	return at.h > LostDigits*r.bb
}
