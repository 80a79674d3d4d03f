package nearest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// maxAbsolute is the largest d for which minima under l1 are found by descents along kinks.
	maxAbsolute = 5
	// maxTerms is the number of coefficients of a quadratic polynomial in maxAbsolute variables.
	maxTerms = 1 + maxAbsolute + maxAbsolute*(maxAbsolute+1)/2
)

type (
	// polynomial is one of degree 2 in t of R^d: value, d slopes and the d(d+1)/2
	// coefficients of vech(tt').
	polynomial [maxTerms]float64
	// point is a t.
	point [maxAbsolute]float64
)

// value returns the polynomial c at t.
func value(c []float64, t *point, d int) float64 {
	sum, a := c[0], d+1
	for i := range d {
		slope := c[1+i]
		for j := i; j < d; j++ {
			slope += c[a] * t[j]
			a++
		}
		sum += slope * t[i]
	}
	return sum
}

// slopes returns the gradient of a polynomial at t.
func slopes(c []float64, t *point, d int) (g point) {
	a := d + 1
	for i := range d {
		g[i] += c[1+i] + 2*c[a]*t[i]
		a++
		for j := i + 1; j < d; j++ {
			g[i] += c[a] * t[j]
			g[j] += c[a] * t[i]
			a++
		}
	}
	return g
}

// add adds a multiple of c, which may have fewer terms.
func (p *polynomial) add(by float64, c []float64) {
	for a, v := range c {
		p[a] += by * v
	}
}

// powers returns 1, t and vech(tt'), of which a polynomial is a sum.
func powers(t *point, d int) (p polynomial) {
	p[0] = 1
	a := d + 1
	for i := range d {
		p[1+i] = t[i]
		for j := i; j < d; j++ {
			p[a] = t[i] * t[j]
			a++
		}
	}
	return p
}

// powersAlong returns the derivatives of powers at t along u, and the halves of the second
// ones.
func powersAlong(t, u *point, d int) (first, second polynomial) {
	a := d + 1
	for i := range d {
		first[1+i] = u[i]
		for j := i; j < d; j++ {
			first[a] = t[i]*u[j] + u[i]*t[j]
			second[a] = u[i] * u[j]
			a++
		}
	}
	return first, second
}

// entries are the entries of a row's residual, which are polynomials of degree 2 in
// t = tau - origin: c - x + Q z is one in tau. One coefficient of all of them is a column,
// padded by zeros.
type entries struct {
	f      *sheet.Sheet
	terms  int
	stride int       // length of a column
	count  int       // of entries
	reach  point     // the largest entries of the columns of U
	coef   []float64 // terms x stride; those of degree 2, V Theta', are those of the sheet
	origin []float64 // d
	z, phi []float64 // m, q
}

func newEntries(f *sheet.Sheet) *entries {
	vec := func(n int) []float64 { return make([]float64, n) }
	e := &entries{
		f: f, terms: 1 + f.Latent + f.Q, stride: (f.D + dense.PolynomialBlock - 1) / dense.PolynomialBlock * dense.PolynomialBlock,
		count: f.D, origin: vec(f.Latent), z: vec(f.M), phi: vec(f.Q),
	}
	e.coef = vec(e.terms * e.stride)
	e.reload()
	return e
}

// column returns the coefficients a of all entries.
func (e *entries) column(a int) []float64 { return e.coef[a*e.stride:][:e.f.D:e.f.D] }

// reload must be called after a change of the sheet.
func (e *entries) reload() {
	f := e.f
	for a := range f.Q {
		form := e.column(1 + f.Latent + a)
		clear(form)
		for k := range f.S {
			dense.AddScaled(form, f.Theta[a*f.S+k], f.Axis(f.Latent+k))
		}
	}
	for j := range f.Latent {
		e.reach[j] = floats.Norm(f.Axis(j), math.Inf(1))
	}
}

// load sets the row and the origin.
func (e *entries) load(x, tau []float64) {
	f := e.f
	d := f.Latent
	copy(e.origin, tau)
	f.Coordinates(e.z, e.phi, tau)
	f.Residual(e.column(0), e.z, x)
	for j := range d {
		copy(e.column(1+j), f.Axis(j))
	}
	if f.S == 0 {
		return
	}
	a := d + 1
	for i := range d {
		dense.AddScaled(e.column(1+i), 2*tau[i], e.column(a))
		a++
		for j := i + 1; j < d; j++ {
			dense.AddScaled(e.column(1+i), tau[j], e.column(a))
			dense.AddScaled(e.column(1+j), tau[i], e.column(a))
			a++
		}
	}
}

// entry returns the polynomial of entry k.
func (e *entries) entry(k int) (c polynomial) {
	for a := range e.terms {
		c[a] = e.coef[a*e.stride+k]
	}
	return c
}
