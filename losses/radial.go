package losses

import "math"

// profile is a loss as a function of the norm t >= 0 of a row. It returns
//
//	value   l(t)
//	slope   l'(t), at 0 from the right
//	excess    l''(t) - l'(t)/t, asked for at t > 0 only
//
// The excess is used instead of the second derivative because it vanishes for a quadratic loss; rounding would spoil
// the difference.
type profile func(t float64) (value, slope, excess float64)

// radial makes a loss from a profile that is concave as a function of t^2. With t = |r|:
//
//	gradient   l'(t)/t r
//	Hessian    l'(t)/t I + excess(t)/t^2 rr'
//	weight     l'(t)/t
type radial struct {
	name    string
	profile profile
	// kinked reports that the slope at 0 is not 0.
	kinked bool
}

// Name implements [framework.Loss].
func (l radial) Name() string { return l.name }

// Evaluate implements [framework.Loss].
func (l radial) Evaluate(values, grad, r []float64, dim int) error {
	for i := range countRows(l.name, values, grad, r, dim) {
		row := r[i*dim : (i+1)*dim]
		t := norm(row)
		value, slope, _ := l.profile(t)
		if values != nil {
			values[i] = value
		}
		if grad != nil {
			direct(grad[i*dim:(i+1)*dim], row, slope, t)
		}
	}
	return nil
}

// direct writes the vector of the given length in the direction of a row whose
// norm is t.
func direct(dst, row []float64, length, t float64) {
	switch {
	case t == 0:
		clear(dst)
	case t < tiny: // length/t can overflow
		for k, v := range row {
			dst[k] = length * (v / t)
		}
	default:
		factor := length / t
		for k, v := range row {
			dst[k] = factor * v
		}
	}
}

// Rho implements [framework.Radial]. Below u = 1e-200 the derivatives are those
// at 1e-200; of a loss with a kink the second one is 0 there.
func (l radial) Rho(rho, d1, d2, u []float64) {
	for i, v := range u {
		t := math.Sqrt(v)
		value, slope, excess := l.profile(t)
		s := max(t, tiny)
		if s != t {
			_, slope, excess = l.profile(s)
			if l.kinked {
				excess = 0
			}
		}
		if rho != nil {
			rho[i] = value
		}
		if d1 != nil {
			d1[i] = slope / (2 * s)
		}
		if d2 != nil {
			d2[i] = excess / (4 * s * s)
		}
	}
}

// Weights implements [framework.Majorizer].
func (l radial) Weights(w, r []float64, dim int) error {
	for i := range countRows(l.name, w, nil, r, dim) {
		t := max(norm(r[i*dim:(i+1)*dim]), tiny)
		_, slope, _ := l.profile(t)
		w[i] = slope / t
	}
	return nil
}

// HessianProduct implements [framework.SecondOrder].
func (l radial) HessianProduct(dst, r, v []float64, dim int) error {
	for i := range countRows(l.name, nil, dst, r, dim) {
		l.hessianProduct(dst[i*dim:(i+1)*dim], r[i*dim:(i+1)*dim], v[i*dim:(i+1)*dim])
	}
	return nil
}

func (l radial) hessianProduct(dst, row, v []float64) {
	t := norm(row)
	if l.kinked && t < tiny {
		clear(dst)
		return
	}
	t = max(t, tiny)
	_, slope, excess := l.profile(t)
	weight, inverse, dot := slope/t, 1/t, 0.0
	for k, x := range row {
		dot += x * inverse * v[k]
	}
	for k, x := range row {
		dst[k] = weight*v[k] + excess*dot*(x*inverse)
	}
}
