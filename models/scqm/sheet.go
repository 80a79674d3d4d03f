package scqm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// vechLen returns q = d(d+1)/2.
func vechLen(d int) int { return d * (d + 1) / 2 }

// vech writes phi(tau) into dst.
func vech(dst, tau []float64) {
	a := 0
	for i, ti := range tau {
		for _, tj := range tau[i:] {
			dst[a] = ti * tj
			a++
		}
	}
}

// shape is the lengths of a sheet: of rows, of tau, of Theta' phi, of phi and of
// z = [tau; Theta' phi].
type shape struct{ D, d, s, q, m int }

// sheet is the geometry of a model in the layout that the kernels read.
type sheet struct {
	shape
	c     []float64 // D
	qt    []float64 // m x D, the transpose of Q: its rows are contiguous
	theta []float64 // q x s
}

func newSheet(D, d, s int) *sheet {
	f := &sheet{shape: shape{D: D, d: d, s: s, q: vechLen(d), m: d + s}}
	f.c = make([]float64, D)
	f.qt = make([]float64, f.m*D)
	f.theta = make([]float64, f.q*s)
	return f
}

// load copies c, Q (D x m) and Theta.
func (f *sheet) load(c, q, theta []float64) {
	copy(f.c, c)
	copy(f.theta, theta)
	dense.Transpose(f.qt, q, f.D, f.m)
}

// axis returns column k of Q.
func (f *sheet) axis(k int) []float64 { return f.qt[k*f.D : (k+1)*f.D] }

// coordinates writes phi(tau) and z(tau).
func (f *sheet) coordinates(z, phi, tau []float64) {
	copy(z, tau)
	vech(phi, tau)
	f.bend(z[f.d:], phi)
}

// bend writes Theta' phi into dst, of length s.
func (f *sheet) bend(dst, phi []float64) {
	clear(dst)
	for a, v := range phi {
		for k, t := range f.theta[a*f.s : (a+1)*f.s] {
			dst[k] += t * v
		}
	}
}

// residual writes c + Q z - x into r. The difference c - x comes first, so that
// a large common offset cancels before anything is added.
func (f *sheet) residual(r, z, x []float64) {
	floats.SubTo(r, f.c, x)
	for k, v := range z {
		floats.AddScaled(r, v, f.axis(k))
	}
}

// pull writes Q'g into b.
func (f *sheet) pull(b, g []float64) {
	for k := range b {
		b[k] = floats.Dot(f.axis(k), g)
	}
}

// weigh writes Theta b_V into w, of length q: the quadratic forms A_k summed
// with the weights b_V, in the layout of Theta's columns.
func (f *sheet) weigh(w, bV []float64) {
	for a := range w {
		w[a] = floats.Dot(f.theta[a*f.s:(a+1)*f.s], bV)
	}
}

// tauGradient writes E'b = b_U + 2 sum_k b_Vk A_k tau into dst, where E is the
// Jacobian of z. w is memory of length q and holds weigh(b_V) afterwards.
func (f *sheet) tauGradient(dst, w, tau, b []float64) {
	copy(dst, b[:f.d])
	f.weigh(w, b[f.d:])
	addForm(dst, w, tau)
}

// addForm adds 2 A tau to dst, for the form A given by w.
func addForm(dst, w, tau []float64) {
	d, a := len(tau), 0
	for i := range d {
		dst[i] += 2 * w[a] * tau[i]
		a++
		for j := i + 1; j < d; j++ {
			dst[i] += w[a] * tau[j]
			dst[j] += w[a] * tau[i]
			a++
		}
	}
}

// jacobian writes E = dz/dtau, m x d: the identity above the rows 2 (A_k tau)'.
func (f *sheet) jacobian(e, tau []float64) {
	d := f.d
	clear(e)
	for i := range d {
		e[i*d+i] = 1
	}
	for k := range f.s {
		row := e[(d+k)*d : (d+k+1)*d]
		a := 0
		for i := range d {
			row[i] += 2 * f.theta[a*f.s+k] * tau[i]
			a++
			for j := i + 1; j < d; j++ {
				t := f.theta[a*f.s+k]
				row[i] += t * tau[j]
				row[j] += t * tau[i]
				a++
			}
		}
	}
}

// addCurvature adds sum_k b_Vk 2 A_k to the d x d matrix h, from w =
// weigh(b_V).
func (f *sheet) addCurvature(h, w []float64) {
	d, a := f.d, 0
	for i := range d {
		h[i*d+i] += 2 * w[a]
		a++
		for j := i + 1; j < d; j++ {
			h[i*d+j] += w[a]
			h[j*d+i] += w[a]
			a++
		}
	}
}

// vechWeight is 1 where entry a of phi is on the diagonal and 1/2 elsewhere.
func vechWeight(d, a int) float64 {
	for i := 0; a >= 0; i++ {
		if a == 0 {
			return 1
		}
		a -= d - i
	}
	return 0.5
}

// withoutFlat returns the sheet without the last columns of V where those of
// Theta are zero.
func (f *sheet) withoutFlat() *sheet {
	s := f.s
	for s > 0 {
		var size float64
		for a := range f.q {
			size = math.Max(size, math.Abs(f.theta[a*f.s+s-1]))
		}
		if size > 0 {
			break
		}
		s--
	}
	if s == f.s {
		return f
	}
	g := newSheet(f.D, f.d, s)
	copy(g.c, f.c)
	copy(g.qt, f.qt[:g.m*f.D])
	for a := range f.q {
		copy(g.theta[a*s:(a+1)*s], f.theta[a*f.s:a*f.s+s])
	}
	return g
}

// gap is the distance of f(tau) from x or, where x is nil, from the place there of
// another sheet.
func (f *sheet) gap(other *sheet, there, tau, x []float64) float64 {
	z, phi, r := make([]float64, f.m), make([]float64, f.q), make([]float64, f.D)
	if x == nil {
		x = make([]float64, f.D)
		other.coordinates(z, phi, there)
		other.residual(x, z, make([]float64, f.D))
	}
	f.coordinates(z, phi, tau)
	f.residual(r, z, x)
	return floats.Norm(r, 2)
}
