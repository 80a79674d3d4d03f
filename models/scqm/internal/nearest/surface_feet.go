package nearest

import (
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

//go:generate sh -c "go run ../../../../internal/dense/assembly feet > surface_feet_amd64.s"

// SurfaceFeet projects rows for d = 2 by the steps of [Quadratic.Minimize], four rows at a time, with the bits of
// plain Go. Sweeps over many rows take .6 of the time that they take with [Feet].
type SurfaceFeet struct {
	f         *sheet.Sheet
	padded    *sheet.Sheet // its Theta with three axes, of which those beyond s are 0
	plane     quadratic2D
	tolerance Arrival
	table     [24]float64 // what the kernels read: Theta, M, and the constants below
}

// surfaceAxes is the number of axes that b has in the kernels. More are never needed, since
// Theta has three rows.
const surfaceAxes = 3

// HasSurfaceFeet reports whether a sheet is for SurfaceFeet.
func HasSurfaceFeet(f *sheet.Sheet) bool { return f.Latent == 2 && f.S > 0 && f.S <= surfaceAxes }

// NewSurfaceFeet prepares for the current sheet.
func NewSurfaceFeet(f *sheet.Sheet, at Arrival) *SurfaceFeet {
	s := &SurfaceFeet{f: f, padded: sheet.New(0, 2, surfaceAxes), tolerance: at}
	s.Reload()
	return s
}

// Reload must be called after a change of Theta.
func (s *SurfaceFeet) Reload() {
	for a := range s.f.Q {
		copy(s.padded.Theta[a*surfaceAxes:], s.f.Theta[a*s.f.S:(a+1)*s.f.S])
	}
	m := &s.plane
	m.load(s.padded)
	copy(s.table[copy(s.table[:], s.padded.Theta):], []float64{
		m.m00, m.m01, m.m02, m.m11, m.m12, m.m22,
		1, dense.Flat, 2 * Armijo, Rounding, s.tolerance.Step * s.tolerance.Step, Refused, 0, -convexSlack, s.tolerance.Gradient * s.tolerance.Gradient,
	})
}

// FrameAxes is the number of axes for which Move reads pulled: those beyond m are 0.
const FrameAxes = 2 + surfaceAxes

// Move improves x and y, the two coordinates of n rows, by so many steps at most, given pulled = Q'(x
// - c), FrameAxes x stride, one axis after the other, and whole = |x - c|^2. It writes squared
// residuals into u, and Refused where h is not convex on the way, or where a full step does
// not lower it. Of squared residuals that are small beside whole many digits are lost. All have
// memory for [Rows] of n.
func (s *SurfaceFeet) Move(u, x, y, pulled []float64, stride int, whole []float64, n, steps int) {
	s.run(u, x, y, pulled, stride, whole, n, steps, false)
}

// Find writes the nearest points into x and y as [Footpoint.Find] does, and refuses rows for which the
// way there is longer. The rest is that of Move.
func (s *SurfaceFeet) Find(u, x, y, pulled []float64, stride int, whole []float64, n int) {
	copy(x[:n], pulled)
	copy(y[:n], pulled[stride:])
	s.run(u, x, y, pulled, stride, whole, n, pureSteps, true)
}

func (s *SurfaceFeet) run(u, x, y, pulled []float64, stride int, whole []float64, n, steps int, nearest bool) {
	if !dense.HasAVX2() || n == 0 {
		s.plain(u, x, y, pulled, stride, whole, n, steps, nearest)
		return
	}
	n = Rows(n)
	u, x, y, whole, pulled = u[:n], x[:n], y[:n], whole[:n], pulled[:(FrameAxes-1)*stride+n]
	feetWide(&s.table[0], &pulled[0], 8*stride, &whole[0], &x[0], &y[0], &u[0], n/4, steps, nearest)
}

// plain is what the kernels do.
func (s *SurfaceFeet) plain(u, x, y, pulled []float64, stride int, whole []float64, n, steps int, nearest bool) {
	var ab [FrameAxes]float64
	for i := range n {
		for k := range ab {
			ab[k] = pulled[k*stride+i]
		}
		at, good := s.plane.minimize(s.padded, ab[:], x[i], y[i], steps, s.tolerance.Step)
		x[i], y[i] = at.x, at.y
		var square float64
		for _, v := range ab {
			square += float64(v * v)
		}
		if u[i] = Refused; good && (!nearest || at.nearest(s.tolerance.Gradient*s.tolerance.Gradient*square)) {
			u[i] = whole[i] - square + at.h
		}
	}
}

// nearest reports whether I + 2B has no negative eigenvalue, and the gradient vanishes beside
// |[a; b]|.
func (q *quartic2D) nearest(most float64) bool {
	a, c := 1+2*q.w0, 1+2*q.w2
	size := a + c
	g0 := q.dx + float64(2*q.w0*q.x) + float64(q.w1*q.y)
	g1 := q.dy + float64(q.w1*q.x) + float64(2*q.w2*q.y)
	return size >= 0 && float64(a*c)-float64(q.w1*q.w1) >= -convexSlack*size*size &&
		float64(g0*g0)+float64(g1*g1) <= most
}
