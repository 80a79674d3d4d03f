package nearest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// quadratic2D is [Quadratic.Minimize] written out for d = 2: with e = Theta' phi - b and M = Theta Theta' the
// distance is |a - tau|^2 + |e|^2, its gradient follows from Theta e, and J'J in its Hessian from M.
type quadratic2D struct {
	m00, m01, m02, m11, m12, m22 float64
}

// load sets Theta from f.
func (g *quadratic2D) load(f *sheet.Sheet) { g.loadWeighed(f, f.Theta) }

// loadWeighed takes Theta A Theta' for M, given Theta A.
func (g *quadratic2D) loadWeighed(f *sheet.Sheet, weighed []float64) {
	form := func(a, b int) float64 {
		return floats.Dot(f.Theta[a*f.S:(a+1)*f.S], weighed[b*f.S:(b+1)*f.S])
	}
	g.m00, g.m01, g.m02 = form(0, 0), form(0, 1), form(0, 2)
	g.m11, g.m12, g.m22 = form(1, 1), form(1, 2), form(2, 2)
}

// quartic2D is h at a point, with phi and w = Theta e.
type quartic2D struct{ x, y, dx, dy, p0, p1, p2, w0, w1, w2, h float64 }

// at2D returns h at a point. Here and below conversions prevent fused multiply-adds.
func at2D(f *sheet.Sheet, ab []float64, x, y float64) quartic2D {
	q := quartic2D{x: x, y: y, dx: x - ab[0], dy: y - ab[1], p0: x * x, p1: x * y, p2: y * y}
	q.h = float64(q.dx*q.dx) + float64(q.dy*q.dy)
	s, b := f.S, ab[2:]
	t0, t1, t2 := f.Theta[:s], f.Theta[s:2*s], f.Theta[2*s:3*s]
	for k, v := range b[:s] {
		e := float64(t0[k]*q.p0) + float64(t1[k]*q.p1) + float64(t2[k]*q.p2) - v
		q.h += float64(e * e)
		if k == 0 {
			q.w0, q.w1, q.w2 = t0[k]*e, t1[k]*e, t2[k]*e
			continue
		}
		q.w0 += float64(t0[k] * e)
		q.w1 += float64(t1[k] * e)
		q.w2 += float64(t2[k] * e)
	}
	return q
}

// step returns Newton's step, the slope along it, and whether h is convex.
func (g *quadratic2D) step(q *quartic2D) (sx, sy, slope float64, convex bool) {
	x, y := q.x, q.y
	g0 := q.dx + float64(2*q.w0*x) + float64(q.w1*y)
	g1 := q.dy + float64(q.w1*x) + float64(2*q.w2*y)
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

// minimize takes at most so many Newton steps from (x, y) as [Quadratic.Minimize] does,
// given ab = Q'(x - c). It reports false where it did not end well: h is not
// convex at a point on the way, or a full step does not lower it. Then it returns the last
// point before, where h is lowest.
func (g *quadratic2D) minimize(f *sheet.Sheet, ab []float64, x, y float64, steps int, precision float64) (at quartic2D, ok bool) {
	at = at2D(f, ab, x, y)
	for range steps {
		sx, sy, slope, convex := g.step(&at)
		if !convex {
			return at, false
		}
		next := at2D(f, ab, at.x+sx, at.y+sy)
		if !(next.h <= at.h+float64(2*Armijo*slope) || next.h <= at.h+float64(Rounding*at.h)) {
			return at, false
		}
		at = next
		if float64(sx*sx)+float64(sy*sy) <= float64(precision*precision*(at.p0+at.p2)) {
			break
		}
	}
	return at, true
}
