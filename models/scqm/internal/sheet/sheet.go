package sheet

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// VechLen returns q = d(d+1)/2.
func VechLen(d int) int { return d * (d + 1) / 2 }

// Vech writes phi(tau) into dst.
func Vech(dst, tau []float64) { dense.Vech(dst, tau) }

// Shape holds the dimensions of a sheet: the lengths of rows, of tau, of Theta' phi, of phi and of z = [tau;
// Theta' phi].
type Shape struct{ D, Latent, S, Q, M int }

// Sheet is a quadratic manifold f(tau) = c + Q z(tau) with z(tau) = [tau; Theta' phi(tau)], in the layout of the
// kernels. For one row phi takes d^2/2 operations, z another qs, and f another 2mD.
type Sheet struct {
	Shape
	C     []float64 // D
	QT    []float64 // m x D, the transpose of Q: its rows are contiguous
	Theta []float64 // q x s
}

func New(D, d, s int) *Sheet {
	f := &Sheet{Shape: Shape{D: D, Latent: d, S: s, Q: VechLen(d), M: d + s}}
	f.C = make([]float64, D)
	f.QT = make([]float64, f.M*D)
	f.Theta = make([]float64, f.Q*s)
	return f
}

// Load copies c, Q (D x m) and Theta.
func (f *Sheet) Load(c, q, theta []float64) {
	copy(f.C, c)
	copy(f.Theta, theta)
	dense.Transpose(f.QT, q, f.D, f.M)
}

// Axis returns column k of Q.
func (f *Sheet) Axis(k int) []float64 { return f.QT[k*f.D : (k+1)*f.D] }

// Coordinates writes phi(tau) and z(tau).
func (f *Sheet) Coordinates(z, phi, tau []float64) {
	copy(z, tau)
	Vech(phi, tau)
	f.Quadratic(z[f.Latent:], phi)
}

// Quadratic writes Theta' phi into dst, of length s.
func (f *Sheet) Quadratic(dst, phi []float64) {
	clear(dst)
	for a, v := range phi {
		for k, t := range f.Theta[a*f.S : (a+1)*f.S] {
			dst[k] += float64(t * v)
		}
	}
}

// Residual writes c + Q z - x into r. The difference c - x comes first, so that
// a large common offset cancels before anything is added.
func (f *Sheet) Residual(r, z, x []float64) {
	floats.SubTo(r, f.C, x)
	for k, v := range z {
		floats.AddScaled(r, v, f.Axis(k))
	}
}

// Deviation writes c - x into r: the residual at z = 0.
func (f *Sheet) Deviation(r, x []float64) {
	copy(r, f.C)
	dense.AddScaled(r, -1, x)
}

// ToFrame writes Q'g into b.
func (f *Sheet) ToFrame(b, g []float64) {
	for k := range b {
		b[k] = floats.Dot(f.Axis(k), g)
	}
}

// WeighForms writes Theta b_V into w, of length q: the sum of the quadratic forms A_k with weights b_V, in the layout
// of Theta's columns.
func (f *Sheet) WeighForms(w, bV []float64) {
	for a := range w {
		w[a] = floats.Dot(f.Theta[a*f.S:(a+1)*f.S], bV)
	}
}

// TauGradient writes E'b = b_U + 2 sum_k b_Vk A_k tau into dst, where E is the Jacobian of z. w is a buffer of length
// q and holds weigh(b_V) afterwards.
func (f *Sheet) TauGradient(dst, w, tau, b []float64) {
	copy(dst, b[:f.Latent])
	f.WeighForms(w, b[f.Latent:])
	AddForm(dst, w, tau)
}

// AddForm adds 2 A tau to dst, for the form A given by w.
func AddForm(dst, w, tau []float64) {
	d, a := len(tau), 0
	for i := range d {
		dst[i] += float64(2 * w[a] * tau[i])
		a++
		for j := i + 1; j < d; j++ {
			dst[i] += float64(w[a] * tau[j])
			dst[j] += float64(w[a] * tau[i])
			a++
		}
	}
}

// Jacobian writes E = dz/dtau, m x d: the identity above the rows 2 (A_k tau)'.
func (f *Sheet) Jacobian(e, tau []float64) {
	d := f.Latent
	clear(e)
	for i := range d {
		e[i*d+i] = 1
	}
	for k := range f.S {
		row := e[(d+k)*d : (d+k+1)*d]
		a := 0
		for i := range d {
			row[i] += float64(2 * f.Theta[a*f.S+k] * tau[i])
			a++
			for j := i + 1; j < d; j++ {
				t := f.Theta[a*f.S+k]
				row[i] += float64(t * tau[j])
				row[j] += float64(t * tau[i])
				a++
			}
		}
	}
}

// AddCurvature adds sum_k b_Vk 2 A_k to the d x d matrix h, from w =
// weigh(b_V).
func (f *Sheet) AddCurvature(h, w []float64) {
	d, a := f.Latent, 0
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

// VechWeight is 1 where entry a of phi is on the diagonal and 1/2 elsewhere.
func VechWeight(d, a int) float64 {
	for i := 0; a >= 0; i++ {
		if a == 0 {
			return 1
		}
		a -= d - i
	}
	return 0.5
}

// WithoutFlat returns the sheet without trailing columns of V whose columns of Theta are zero.
func (f *Sheet) WithoutFlat() *Sheet {
	s := f.S
	for s > 0 {
		var size float64
		for a := range f.Q {
			size = math.Max(size, math.Abs(f.Theta[a*f.S+s-1]))
		}
		if size > 0 {
			break
		}
		s--
	}
	if s == f.S {
		return f
	}
	g := New(f.D, f.Latent, s)
	copy(g.C, f.C)
	copy(g.QT, f.QT[:g.M*f.D])
	for a := range f.Q {
		copy(g.Theta[a*s:(a+1)*s], f.Theta[a*f.S:a*f.S+s])
	}
	return g
}

// Gap returns the distance of f(tau) from x. If x is nil, it returns the distance from the point of another sheet at
// there.
func (f *Sheet) Gap(other *Sheet, there, tau, x []float64) float64 {
	z, phi, r := make([]float64, f.M), make([]float64, f.Q), make([]float64, f.D)
	if x == nil {
		x = make([]float64, f.D)
		other.Coordinates(z, phi, there)
		other.Residual(x, z, make([]float64, f.D))
	}
	f.Coordinates(z, phi, tau)
	f.Residual(r, z, x)
	return floats.Norm(r, 2)
}
