package scqm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// bentRows holds the derivatives of the losses of a batch of rows, without
// their weights, in the frame of the sheet; see [arrow] for the letters.
type bentRows struct {
	k        *jackknife
	n, first int
	h        []float64 // n x F: features
	dh       []float64 // n x F x d: their derivatives
	r        []float64 // n x D: residuals in the coordinates of the data
	e, g     []float64 // n x D: residuals and loss gradients in the frame
	he       []float64 // n x D x d: Hessian of the loss times that of e
	value    []float64 // n: losses
	spectrum []float64 // n x d: eigenvalues of C, made positive
	axes     []float64 // n x d x d: its eigenvectors as rows
	v        []float64 // n x D
	c        []float64 // d x d
	w        []float64 // q
}

func newBentRows(k *jackknife, batch int) *bentRows {
	f := k.f
	vec := func(n int) []float64 { return make([]float64, n) }
	return &bentRows{
		k: k, h: vec(batch * k.nf), dh: vec(batch * k.nf * f.d), r: vec(batch * f.D), e: vec(batch * f.D), g: vec(batch * f.D),
		he: vec(batch * f.D * f.d), value: vec(batch), spectrum: vec(batch * f.d), axes: vec(batch * f.d * f.d),
		v: vec(batch * f.D), c: vec(f.d * f.d), w: vec(f.q),
	}
}

// load computes the derivatives of rows from to to.
func (b *bentRows) load(from, to int) error {
	k, f := b.k, b.k.f
	D, d, nf := f.D, f.d, k.nf
	b.first, b.n = from, to-from
	n := b.n
	for i := range n {
		h, tau := b.h[i*nf:(i+1)*nf], k.tau[(from+i)*d:(from+i+1)*d]
		k.features(h, tau)
		k.slopes(b.slopes(i), tau)
		f.residual(b.r[i*D:(i+1)*D], h[1:1+f.m], k.problem.Data().Row(from+i))
		k.frame.rotate(b.e[i*D:(i+1)*D], b.r[i*D:(i+1)*D])
	}
	if err := k.problem.Loss().Evaluate(b.value[:n], b.v[:n*D], b.r[:n*D], D); err != nil {
		return fmt.Errorf("scqm: loss %s: %w", k.problem.Loss().Name(), err)
	}
	for i := range n {
		k.frame.rotate(b.g[i*D:(i+1)*D], b.v[i*D:(i+1)*D])
	}
	for j := range d {
		if err := b.addColumn(j); err != nil {
			return err
		}
	}
	for i := range n {
		b.decompose(i)
	}
	return nil
}

// slopes returns dh/dtau of row i.
func (b *bentRows) slopes(i int) []float64 {
	size := b.k.nf * b.k.f.d
	return b.dh[i*size : (i+1)*size]
}

// addColumn computes column j of he.
func (b *bentRows) addColumn(j int) error {
	f := b.k.f
	D, d := f.D, f.d
	for i := range b.n {
		column, dh := b.v[i*D:(i+1)*D], b.slopes(i)
		clear(column)
		for r := range f.m {
			floats.AddScaled(column, dh[(1+r)*d+j], f.axis(r))
		}
	}
	if err := b.k.bend(b.v[:b.n*D], b.r[:b.n*D]); err != nil {
		return err
	}
	for i := range b.n {
		column, he := b.v[i*D:(i+1)*D], b.he[i*D*d:(i+1)*D*d]
		for r := range D {
			he[r*d+j] = dense.Dot(b.k.frame.axis(r), column)
		}
	}
	return nil
}

// leastBend is the smallest eigenvalue of C, relative to the largest, that
// is divided by.
const leastBend = 1e-8

// decompose computes the spectrum of C of row i.
func (b *bentRows) decompose(i int) {
	f := b.k.f
	D, d := f.D, f.d
	clear(b.c)
	dh, he := b.slopes(i), b.he[i*D*d:(i+1)*D*d]
	for r := range f.m {
		for j, v := range dh[(1+r)*d : (2+r)*d] {
			floats.AddScaled(b.c[j*d:(j+1)*d], v, he[r*d:(r+1)*d])
		}
	}
	f.weigh(b.w, b.g[i*D+d:i*D+f.m])
	f.addCurvature(b.c, b.w)
	dense.JacobiEigen(b.c, b.axes[i*d*d:(i+1)*d*d], d)
	spectrum := b.spectrum[i*d : (i+1)*d]
	var size float64
	for j := range d {
		spectrum[j] = b.c[j*d+j]
		size = math.Max(size, math.Abs(spectrum[j]))
	}
	for j, v := range spectrum {
		spectrum[j] = math.Max(v, leastBend*size)
	}
}

// settle writes -C^-1 t, how tau_i answers when its gradient changes by t.
func (b *bentRows) settle(dst, t []float64, i int) {
	d := len(t)
	clear(dst)
	for j, v := range b.spectrum[i*d : (i+1)*d] {
		axis := b.axes[(i*d+j)*d : (i*d+j+1)*d]
		if v > 0 {
			floats.AddScaled(dst, -dense.Dot(axis, t)/v, axis)
		}
	}
}

// image writes u = HE t and s = dh t for row i.
func (b *bentRows) image(u, s, t []float64, i int) {
	f := b.k.f
	d := f.d
	for r := range u {
		u[r] = dense.Dot(b.he[(i*f.D+r)*d:(i*f.D+r+1)*d], t)
	}
	dh := b.slopes(i)
	for a := range s {
		s[a] = dense.Dot(dh[a*d:(a+1)*d], t)
	}
}

// pull writes B'v, the change of the gradient with respect to tau_i, for v that
// changes e by de and whose feature matrix M takes g to mg = M'g.
func (b *bentRows) pull(dst, de, mg []float64, i int) {
	f := b.k.f
	d := f.d
	clear(dst)
	for r, v := range de {
		floats.AddScaled(dst, v, b.he[(i*f.D+r)*d:(i*f.D+r+1)*d])
	}
	dh := b.slopes(i)
	for a, v := range mg {
		floats.AddScaled(dst, v, dh[a*d:(a+1)*d])
	}
}

// bend replaces every row of v by the product of the Hessian of the loss at that
// row of r with it.
func (k *jackknife) bend(v, r []float64) error {
	if err := k.second.HessianProduct(v, r, v, k.f.D); err != nil {
		return fmt.Errorf("scqm: loss %s: %w", k.problem.Loss().Name(), err)
	}
	return nil
}

// addHessians adds weight W'(hess loss)W of the rows of the batch, D x D
// each, to every form, scaled by the products of features.
func (b *bentRows) addHessians(forms [][]float64) error {
	k, f := b.k, b.k.f
	D := f.D
	hess := make([]float64, D*D)
	columns, r := make([]float64, D*D), make([]float64, D*D)
	for i := range b.n {
		weight := k.problem.Data().Weight(b.first + i)
		if weight == 0 {
			continue
		}
		for q := range D { // all columns of W as one batch
			copy(r[q*D:(q+1)*D], b.r[i*D:(i+1)*D])
		}
		copy(columns, k.frame.w)
		if err := k.bend(columns, r); err != nil {
			return err
		}
		for q := range D {
			k.frame.rotate(hess[q*D:(q+1)*D], columns[q*D:(q+1)*D])
		}
		h := b.h[i*k.nf : (i+1)*k.nf]
		for a := range k.nf {
			for c := a; c < k.nf; c++ {
				floats.AddScaled(forms[a*k.nf+c], weight*h[a]*h[c], hess)
			}
		}
	}
	return nil
}

// addForms adds the rows of the batch to the sums that J'LJ follows from, see
// [jackknife]: to products of features hh, or to forms.
func (b *bentRows) addForms(forms [][]float64, hh []float64) error {
	k := b.k
	switch l := k.problem.Loss().(type) {
	case framework.Radial:
		u, one := make([]float64, b.n), make([]float64, b.n)
		for i := range b.n {
			e := b.e[i*k.f.D : (i+1)*k.f.D]
			u[i] = dense.Dot(e, e)
		}
		l.Rho(nil, one, nil, u)
		for i := range b.n {
			dense.AddOuterProduct(hh, b.h[i*k.nf:(i+1)*k.nf], 2*k.problem.Data().Weight(b.first+i)*one[i])
		}
	case framework.Separable:
		bend := make([]float64, b.n*k.f.D)
		l.Phi(nil, nil, bend, b.r[:b.n*k.f.D])
		for i := range b.n {
			b.addDiagonal(forms, bend[i*k.f.D:(i+1)*k.f.D], i)
		}
	case framework.Quadratic:
		for i := range b.n {
			dense.AddOuterProduct(hh, b.h[i*k.nf:(i+1)*k.nf], k.problem.Data().Weight(b.first+i))
		}
	default:
		return b.addHessians(forms)
	}
	return nil
}

// addDiagonal adds a row whose loss has the diagonal bend as its Hessian.
func (b *bentRows) addDiagonal(forms [][]float64, bend []float64, i int) {
	k := b.k
	weight, h := k.problem.Data().Weight(b.first+i), b.h[i*k.nf:(i+1)*k.nf]
	for a := range k.nf {
		for c := a; c < k.nf; c++ {
			floats.AddScaled(forms[a*k.nf+c], weight*h[a]*h[c], bend)
		}
	}
}
