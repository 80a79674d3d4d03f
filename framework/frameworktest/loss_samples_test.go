package frameworktest_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
)

// logCosh is a sound loss of a user: sum_k log cosh r_k, with everything that a
// separable loss can offer. Spoil breaks the results of Evaluate, phi those of
// Phi and of what follows from it.
type logCosh struct {
	spoil func(values, grad, r []float64, dim int)
	phi   func(phi, d1, d2, r []float64)
}

func (logCosh) Name() string { return "log_cosh" }

func (l logCosh) Evaluate(values, grad, r []float64, dim int) error {
	x := slices.Clone(r)
	phi, d1 := make([]float64, len(r)), make([]float64, len(r))
	logCosh{}.Phi(phi, d1, nil, x)
	copy(grad, d1)
	for i := range values {
		values[i] = 0
		for _, v := range phi[i*dim : (i+1)*dim] {
			values[i] += v
		}
	}
	if l.spoil != nil {
		l.spoil(values, grad, r, dim)
	}
	return nil
}

func (l logCosh) Phi(phi, d1, d2, r []float64) {
	for k, v := range r {
		a, th := math.Abs(v), math.Tanh(v)
		if phi != nil { // a + log1p(exp(-2a)) - log 2 without cancellation
			phi[k] = a + math.Log1p(math.Expm1(-2*a)/2)
			if a < 1e-4 {
				phi[k] = a * a / 2 * (1 - a*a/6)
			}
		}
		if d1 != nil {
			d1[k] = th
		}
		if d2 != nil {
			d2[k] = 1 - th*th
		}
	}
	if l.phi != nil {
		l.phi(phi, d1, d2, r)
	}
}

func (l logCosh) HessianProduct(dst, r, v []float64, _ int) error {
	d2 := make([]float64, len(r))
	l.Phi(nil, nil, d2, r)
	for k, c := range d2 {
		dst[k] = c * v[k]
	}
	return nil
}

func (l logCosh) Weights(w, r []float64, _ int) error {
	l.Phi(nil, w, nil, r)
	for k, v := range r {
		if v == 0 {
			w[k] = 1
			continue
		}
		w[k] /= v
	}
	return nil
}

// root is sqrt(|r|^2 + eps^2) - eps: radial, with a kink for eps = 0.
type root struct {
	eps                   float64
	d1, d2, weight, shift float64 // factors less one, and an added constant
	smooth                func(eps float64) framework.Loss
	name                  string
}

func (l root) Name() string { return "root" + l.name }

func (l root) Evaluate(values, grad, r []float64, dim int) error {
	for i := range len(r) / dim {
		row := r[i*dim : (i+1)*dim]
		s := l.eps
		for _, v := range row {
			s = math.Hypot(s, v)
		}
		if values != nil {
			values[i] = s - l.eps + l.shift
		}
		for k, v := range row {
			if grad != nil {
				grad[i*dim+k] = v / max(s, 1e-300)
			}
		}
	}
	return nil
}

func (l root) Rho(rho, d1, d2, u []float64) {
	for i, v := range u {
		s := max(math.Hypot(l.eps, math.Sqrt(v)), 1e-100)
		if rho != nil {
			rho[i] = s - l.eps + l.shift
		}
		if d1 != nil {
			d1[i] = (1 + l.d1) / (2 * s)
		}
		if d2 != nil {
			d2[i] = -(1 + l.d2) / (4 * s * s * s)
		}
	}
}

func (l root) Weights(w, r []float64, dim int) error {
	for i := range w {
		s := max(l.eps, 1e-100)
		for _, v := range r[i*dim : (i+1)*dim] {
			s = math.Hypot(s, v)
		}
		w[i] = (1 + l.weight) / s
	}
	return nil
}

// inUnits is a root that gets the factor of other units wrong unless off is 1.
type inUnits struct {
	root
	off float64
}

func (l inUnits) Rescale(unit float64) (framework.Loss, float64) {
	other := l
	other.eps /= unit
	return other, l.off * unit
}

func (l root) Smooth(eps float64) framework.Loss {
	if l.smooth != nil {
		return l.smooth(eps)
	}
	l.eps = eps
	return l
}

// weighted is the quadratic loss 2 sum_k r_k^2 with a matrix that may be wrong.
type weighted struct {
	m   []float64
	dim int
}

func (weighted) Name() string { return "weighted" }

func (l weighted) Dim() int { return l.dim }

func (l weighted) Matrix() []float64 { return l.m }

func (weighted) HessianProduct(dst, _, v []float64, _ int) error {
	for k := range v {
		dst[k] = 4 * v[k]
	}
	return nil
}

func (l weighted) Evaluate(values, grad, r []float64, dim int) error {
	if dim != 2 {
		return fmt.Errorf("rows of %d", dim)
	}
	for i := range values {
		values[i] = 2 * (r[2*i]*r[2*i] + r[2*i+1]*r[2*i+1])
	}
	for k := range grad {
		grad[k] = 4 * r[k]
	}
	return nil
}

// opaque hides all but Evaluate.
type opaque struct{ framework.Loss }

// odd overrides Evaluate of a loss without extras.
type odd func(values, grad, r []float64, dim int) error

func (odd) Name() string { return "odd" }

func (f odd) Evaluate(values, grad, r []float64, dim int) error { return f(values, grad, r, dim) }

type nameless struct{ framework.Loss }

func (nameless) Name() string { return "" }

// radial claims that a loss is radial which is not.
type radial struct{ framework.Loss }

func (radial) Rho(rho, d1, d2, u []float64) { root{}.Rho(rho, d1, d2, u) }

// twisted has a Hessian product of a matrix that is not symmetric.
type twisted struct{ framework.Loss }

func (l twisted) HessianProduct(dst, r, v []float64, dim int) error {
	x := slices.Clone(v)
	err := logCosh{}.HessianProduct(dst, r, v, dim)
	for k := 0; k < len(dst); k += dim {
		dst[k] += 0.1 * x[k+1]
	}
	return err
}
