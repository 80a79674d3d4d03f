package influence

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// rowDerivatives holds the derivatives of the losses of a batch of rows, without their weights, in the frame of
// the sheet; see [arrowhead.Hessian] for the notation. A row takes D^2 operations for the frame and d products
// with the Hessian of the loss.
type rowDerivatives struct {
	k        *Jackknife
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

func newRowDerivatives(k *Jackknife, batch int) *rowDerivatives {
	f := k.F
	vec := func(n int) []float64 { return make([]float64, n) }
	return &rowDerivatives{
		k: k, h: vec(batch * k.Nf), dh: vec(batch * k.Nf * f.Latent), r: vec(batch * f.D), e: vec(batch * f.D), g: vec(batch * f.D),
		he: vec(batch * f.D * f.Latent), value: vec(batch), spectrum: vec(batch * f.Latent), axes: vec(batch * f.Latent * f.Latent),
		v: vec(batch * f.D), c: vec(f.Latent * f.Latent), w: vec(f.Q),
	}
}

// load computes the derivatives of rows from to to.
func (b *rowDerivatives) load(from, to int) error {
	k, f := b.k, b.k.F
	D, d, nf := f.D, f.Latent, k.Nf
	b.first, b.n = from, to-from
	n := b.n
	for i := range n {
		h, tau := b.h[i*nf:(i+1)*nf], k.tau[(from+i)*d:(from+i+1)*d]
		k.Features(h, tau)
		k.Jacobian(b.jacobian(i), tau)
		f.Residual(b.r[i*D:(i+1)*D], h[1:1+f.M], k.problem.Data().Row(from+i))
		k.Frame.Rotate(b.e[i*D:(i+1)*D], b.r[i*D:(i+1)*D])
	}
	if err := k.problem.Loss().Evaluate(b.value[:n], b.v[:n*D], b.r[:n*D], D); err != nil {
		return fmt.Errorf("scqm: loss %s: %w", k.problem.Loss().Name(), err)
	}
	for i := range n {
		k.Frame.Rotate(b.g[i*D:(i+1)*D], b.v[i*D:(i+1)*D])
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

// jacobian returns dh/dtau of row i.
func (b *rowDerivatives) jacobian(i int) []float64 {
	size := b.k.Nf * b.k.F.Latent
	return b.dh[i*size : (i+1)*size]
}

// addColumn computes column j of he.
func (b *rowDerivatives) addColumn(j int) error {
	f := b.k.F
	D, d := f.D, f.Latent
	for i := range b.n {
		column, dh := b.v[i*D:(i+1)*D], b.jacobian(i)
		clear(column)
		for r := range f.M {
			floats.AddScaled(column, dh[(1+r)*d+j], f.Axis(r))
		}
	}
	if err := b.k.lossHessian(b.v[:b.n*D], b.r[:b.n*D]); err != nil {
		return err
	}
	for i := range b.n {
		column, he := b.v[i*D:(i+1)*D], b.he[i*D*d:(i+1)*D*d]
		for r := range D {
			he[r*d+j] = dense.Dot(b.k.Frame.Axis(r), column)
		}
	}
	return nil
}

// minCurvature is the least eigenvalue of C, relative to the largest; smaller ones are raised to it.
const minCurvature = 1e-8

// decompose computes the spectrum of C of row i.
func (b *rowDerivatives) decompose(i int) {
	f := b.k.F
	D, d := f.D, f.Latent
	clear(b.c)
	dh, he := b.jacobian(i), b.he[i*D*d:(i+1)*D*d]
	for r := range f.M {
		for j, v := range dh[(1+r)*d : (2+r)*d] {
			floats.AddScaled(b.c[j*d:(j+1)*d], v, he[r*d:(r+1)*d])
		}
	}
	f.WeighForms(b.w, b.g[i*D+d:i*D+f.M])
	f.AddCurvature(b.c, b.w)
	dense.JacobiEigen(b.c, b.axes[i*d*d:(i+1)*d*d], d)
	spectrum := b.spectrum[i*d : (i+1)*d]
	var size float64
	for j := range d {
		spectrum[j] = b.c[j*d+j]
		size = math.Max(size, math.Abs(spectrum[j]))
	}
	for j, v := range spectrum {
		spectrum[j] = math.Max(v, minCurvature*size)
	}
}

// respond writes -C^-1 t, the change of tau_i when its gradient changes by t.
func (b *rowDerivatives) respond(dst, t []float64, i int) {
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
func (b *rowDerivatives) image(u, s, t []float64, i int) {
	f := b.k.F
	d := f.Latent
	for r := range u {
		u[r] = dense.Dot(b.he[(i*f.D+r)*d:(i*f.D+r+1)*d], t)
	}
	dh := b.jacobian(i)
	for a := range s {
		s[a] = dense.Dot(dh[a*d:(a+1)*d], t)
	}
}

// pull writes B'v, the change of the gradient with respect to tau_i, for v that
// changes e by de and whose feature matrix M takes g to mg = M'g.
func (b *rowDerivatives) pull(dst, de, mg []float64, i int) {
	f := b.k.F
	d := f.Latent
	clear(dst)
	for r, v := range de {
		floats.AddScaled(dst, v, b.he[(i*f.D+r)*d:(i*f.D+r+1)*d])
	}
	dh := b.jacobian(i)
	for a, v := range mg {
		floats.AddScaled(dst, v, dh[a*d:(a+1)*d])
	}
}

// lossHessian replaces every row of v by the product of the Hessian of the loss at that
// row of r with it.
func (k *Jackknife) lossHessian(v, r []float64) error {
	if err := k.second.HessianProduct(v, r, v, k.F.D); err != nil {
		return fmt.Errorf("scqm: loss %s: %w", k.problem.Loss().Name(), err)
	}
	return nil
}

// addForms adds the rows of the batch to the sums that J'LJ follows from, see
// [Jackknife]: to products of features hh, or to forms.
func (b *rowDerivatives) addForms(forms [][]float64, hh []float64) error {
	k, D := b.k, b.k.F.D
	switch l := k.problem.Loss().(type) {
	case framework.Radial:
		u, one := make([]float64, b.n), make([]float64, b.n)
		for i := range b.n {
			e := b.e[i*D : (i+1)*D]
			u[i] = dense.Dot(e, e)
		}
		l.Rho(nil, one, nil, u)
		for i := range b.n {
			dense.AddOuterProduct(hh, b.h[i*k.Nf:(i+1)*k.Nf], 2*k.problem.Data().Weight(b.first+i)*one[i])
		}
	case framework.Separable:
		diagonals := make([]float64, b.n*D)
		l.Phi(nil, nil, diagonals, b.r[:b.n*D])
		for i := range b.n {
			b.addForm(forms, diagonals[i*D:(i+1)*D], i)
		}
	case framework.Quadratic:
		for i := range b.n {
			dense.AddOuterProduct(hh, b.h[i*k.Nf:(i+1)*k.Nf], k.problem.Data().Weight(b.first+i))
		}
	default:
		form := make([]float64, D*D)
		for i := range b.n {
			if err := b.hessian(form, i); err != nil {
				return err
			}
			b.addForm(forms, form, i)
		}
	}
	return nil
}

// hessian writes W'LW of row i.
func (b *rowDerivatives) hessian(dst []float64, i int) error {
	D := b.k.F.D
	columns, r := slices.Clone(b.k.Frame.W), slices.Repeat(b.r[i*D:(i+1)*D], D)
	err := b.k.lossHessian(columns, r)
	for q := range D {
		b.k.Frame.Rotate(dst[q*D:(q+1)*D], columns[q*D:(q+1)*D])
	}
	return err
}

// addForm adds the form of row i to those of all pairs of features.
func (b *rowDerivatives) addForm(forms [][]float64, form []float64, i int) {
	nf := b.k.Nf
	weight, h := b.k.problem.Data().Weight(b.first+i), b.h[i*nf:(i+1)*nf]
	for a := 0; a < nf && weight != 0; a++ {
		for c := a; c < nf; c++ {
			floats.AddScaled(forms[a*nf+c], weight*h[a]*h[c], form)
		}
	}
}
