package nearest

import (
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

//go:generate sh -c "go run ../../../../internal/dense/assembly feet > surface_feet_amd64.s"

// footSteps is the number of Newton steps that the kernels of SurfaceFeet take.
const footSteps = 2

// Refused stands for the squared residual of a row that [SurfaceFeet] did not place.
const Refused = -1.0

// SurfaceFeet moves rows of surfaces, d = 2, towards the nearest points by two steps of
// [Quadratic.Minimize], as many rows at a time as the processor has lanes. Bits are those of
// plain Go. It takes about 300 operations a row, and ten for each axis of b.
type SurfaceFeet struct {
	f         *sheet.Sheet
	plane     quadratic2D
	precision float64
	table     [13]float64 // what the kernels read: M, and the constants below
}

// NewSurfaceFeet prepares for a sheet with d = 2 and s > 0 as it is. No step follows one as short as the
// precision, relative to tau.
func NewSurfaceFeet(f *sheet.Sheet, precision float64) *SurfaceFeet {
	s := &SurfaceFeet{f: f, precision: precision}
	s.Reload()
	return s
}

// Reload has to be called where Theta may have changed.
func (s *SurfaceFeet) Reload() {
	s.plane.load(s.f)
	m := &s.plane
	s.table = [13]float64{
		m.m00, m.m01, m.m02, m.m11, m.m12, m.m22,
		1, dense.Flat, 2 * armijo, rounding, s.precision * s.precision, LostDigits, Refused,
	}
}

// Rows rounds a number of rows up to what Move may touch.
func Rows(n int) int { return (n + 7) / 8 * 8 }

// Move improves x and y, the two coordinates of n rows, given pulled = Q'(x - c), m x stride, one
// axis after the other, and whole = |x - c|^2. It writes squared residuals into u, and Refused
// where h is not convex on the way, where a full step does not lower it, and where too many
// digits cancel. All have memory for [Rows] of n.
func (s *SurfaceFeet) Move(u, x, y, pulled []float64, stride int, whole []float64, n int) {
	wide, wider := dense.Wide()
	if !wide || n == 0 {
		s.move(u, x, y, pulled, stride, whole, n)
		return
	}
	n = Rows(n)
	u, x, y, whole, pulled = u[:n], x[:n], y[:n], whole[:n], pulled[:(s.f.M-1)*stride+n]
	if wider {
		feetAVX512(&s.table[0], &s.f.Theta[0], s.f.S, &pulled[0], 8*stride, &whole[0], &x[0], &y[0], &u[0], n/8)
		return
	}
	feetAVX2(&s.table[0], &s.f.Theta[0], s.f.S, &pulled[0], 8*stride, &whole[0], &x[0], &y[0], &u[0], n/4)
}

// move is what the kernels do.
func (s *SurfaceFeet) move(u, x, y, pulled []float64, stride int, whole []float64, n int) {
	f := s.f
	ab := make([]float64, f.M)
	for i := range n {
		for k := range ab {
			ab[k] = pulled[k*stride+i]
		}
		tau := [2]float64{x[i], y[i]}
		good := s.plane.minimize(tau[:], ab, f, footSteps, s.precision)
		x[i], y[i] = tau[0], tau[1]
		if u[i] = Refused; good {
			u[i] = s.residual(ab, tau[0], tau[1], whole[i])
		}
	}
}

// residual returns |x - c|^2 - |Q'(x - c)|^2 + |Q'(x - c) - z|^2.
func (s *SurfaceFeet) residual(ab []float64, x, y, whole float64) float64 {
	f := s.f
	dx, dy, p0, p1, p2 := x-ab[0], y-ab[1], x*x, x*y, y*y
	inside, bb := float64(dx*dx)+float64(dy*dy), 0.0
	for k, b := range ab[2:] {
		e := float64(f.Theta[k]*p0) + float64(f.Theta[f.S+k]*p1) + float64(f.Theta[2*f.S+k]*p2) - b
		inside += float64(e * e)
		bb += float64(b * b)
	}
	return whole - (float64(ab[0]*ab[0]) + float64(ab[1]*ab[1]) + bb) + inside
}
