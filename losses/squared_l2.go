package losses

import "github.com/scqm/scqm/framework"

// SquaredL2 returns the loss |r|^2: twice the negative log-likelihood of
// isotropic Gaussian noise of variance 1. Derivatives and weights are exact.
func SquaredL2() framework.Loss { return squaredL2{} }

type squaredL2 struct{}

// Name implements [framework.Loss].
func (squaredL2) Name() string { return "squared_l2" }

// Evaluate implements [framework.Loss].
func (l squaredL2) Evaluate(values, grad, r []float64, dim int) error {
	countRows(l.Name(), values, grad, r, dim)
	for i := range values {
		values[i] = squares(r[i*dim : (i+1)*dim])
	}
	if grad != nil {
		double(grad, r)
	}
	return nil
}

// Rho implements [framework.Radial].
func (squaredL2) Rho(rho, d1, d2, u []float64) {
	if rho != nil {
		copy(rho, u)
	}
	for i := range d1 {
		d1[i] = 1
	}
	clear(d2)
}

// Weights implements [framework.Majorizer].
func (l squaredL2) Weights(w, r []float64, dim int) error {
	countRows(l.Name(), w, nil, r, dim)
	for i := range w {
		w[i] = 2
	}
	return nil
}

// HessianProduct implements [framework.SecondOrder].
func (l squaredL2) HessianProduct(dst, r, v []float64, dim int) error {
	countRows(l.Name(), nil, dst, r, dim)
	double(dst, v)
	return nil
}

func double(dst, src []float64) {
	for k, v := range src {
		dst[k] = 2 * v
	}
}
