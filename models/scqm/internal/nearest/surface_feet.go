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
// plain Go. It takes about 300 operations a row.
type SurfaceFeet struct {
	f         *sheet.Sheet
	padded    *sheet.Sheet // its Theta with three axes, of which those beyond s are 0
	plane     quadratic2D
	precision float64
	table     [21]float64 // what the kernels read: Theta, M, and the constants below
}

// surfaceAxes is the number of axes that b has in the kernels. More are never needed, since
// Theta has three rows.
const surfaceAxes = 3

// HasSurfaceFeet reports whether a sheet is for SurfaceFeet.
func HasSurfaceFeet(f *sheet.Sheet) bool { return f.Latent == 2 && f.S > 0 && f.S <= surfaceAxes }

// NewSurfaceFeet prepares for such a sheet as it is. No step follows one as short as the
// precision, relative to tau.
func NewSurfaceFeet(f *sheet.Sheet, precision float64) *SurfaceFeet {
	s := &SurfaceFeet{f: f, padded: sheet.New(0, 2, surfaceAxes), precision: precision}
	s.Reload()
	return s
}

// Reload has to be called where Theta may have changed.
func (s *SurfaceFeet) Reload() {
	for a := range s.f.Q {
		copy(s.padded.Theta[a*surfaceAxes:], s.f.Theta[a*s.f.S:(a+1)*s.f.S])
	}
	m := &s.plane
	m.load(s.padded)
	copy(s.table[copy(s.table[:], s.padded.Theta):], []float64{
		m.m00, m.m01, m.m02, m.m11, m.m12, m.m22,
		1, dense.Flat, 2 * armijo, rounding, s.precision * s.precision, Refused,
	})
}

// Rows rounds a number of rows up to what Move may touch.
func Rows(n int) int { return (n + 7) / 8 * 8 }

// FrameAxes is the number of axes for which Move reads pulled: those beyond m are 0.
const FrameAxes = 2 + surfaceAxes

// Move improves x and y, the two coordinates of n rows, given pulled = Q'(x - c), FrameAxes x
// stride, one axis after the other, and whole = |x - c|^2. It writes squared residuals into u, and
// Refused where h is not convex on the way, or where a full step does not lower it. Of squared
// residuals that are small beside whole many digits are lost. All have memory for [Rows] of n.
func (s *SurfaceFeet) Move(u, x, y, pulled []float64, stride int, whole []float64, n int) {
	wide, wider := dense.Wide()
	if !wide || n == 0 {
		s.move(u, x, y, pulled, stride, whole, n)
		return
	}
	n = Rows(n)
	u, x, y, whole, pulled = u[:n], x[:n], y[:n], whole[:n], pulled[:(FrameAxes-1)*stride+n]
	if wider {
		feetAVX512(&s.table[0], &pulled[0], 8*stride, &whole[0], &x[0], &y[0], &u[0], n/8)
		return
	}
	feetAVX2(&s.table[0], &pulled[0], 8*stride, &whole[0], &x[0], &y[0], &u[0], n/4)
}

// move is what the kernels do.
func (s *SurfaceFeet) move(u, x, y, pulled []float64, stride int, whole []float64, n int) {
	var ab [FrameAxes]float64
	for i := range n {
		for k := range ab {
			ab[k] = pulled[k*stride+i]
		}
		tau := [2]float64{x[i], y[i]}
		h, good := s.plane.minimize(tau[:], ab[:], s.padded, footSteps, s.precision)
		x[i], y[i] = tau[0], tau[1]
		if u[i] = Refused; !good {
			continue
		}
		var square float64
		for _, v := range ab {
			square += float64(v * v)
		}
		u[i] = whole[i] - square + h
	}
}
