package plugins

import "github.com/scqm/scqm/framework"

// RadialForm defines a loss rho(|r|^2) by a function of one number. If it is a pointer
// to a struct, its fields are the parameters of the loss; see [Serve].
type RadialForm interface {
	// Name is the name of the loss.
	Name() string
	// Rho returns rho(u) and its first two derivatives for u >= 0. They must be finite for
	// finite u. If a derivative does not exist, Rho returns some finite value for it.
	Rho(u float64) (rho, d1, d2 float64)
}

// SeparableForm defines a loss sum_k phi(r_k) by a function of one number. If it is a
// pointer to a struct, its fields are the parameters of the loss; see [Serve].
type SeparableForm interface {
	// Name is the name of the loss.
	Name() string
	// Phi returns phi(r) and its first two derivatives. They must be finite for finite r.
	// If a derivative does not exist, Phi returns some finite value for it.
	Phi(r float64) (phi, d1, d2 float64)
}

// form is the common part of [RadialForm] and [SeparableForm].
type form interface{ Name() string }

// formed is a loss that was made from a form.
type formed interface {
	framework.Loss
	form() form
	// of makes a loss of the same kind from another form.
	of(form) framework.Loss
}

// Radial returns the loss that f defines, with gradients and Hessian products. If the
// Document of f says that it is Concave, the loss has weights too.
func Radial(f RadialForm) framework.Loss {
	l := radialLoss{f}
	if isConcave(f) {
		return concaveRadial{l}
	}
	return l
}

// Separable returns the loss that f defines, with gradients and Hessian products. If
// the Document of f says that it is Concave, the loss has weights too.
func Separable(f SeparableForm) framework.Loss {
	l := separableLoss{f}
	if isConcave(f) {
		return concaveSeparable{l}
	}
	return l
}

func isConcave(f form) bool {
	d, ok := f.(Documented)
	return ok && d.Document().Concave
}

type (
	radialLoss       struct{ f RadialForm }
	separableLoss    struct{ f SeparableForm }
	concaveRadial    struct{ radialLoss }
	concaveSeparable struct{ separableLoss }
)

func (l radialLoss) form() form                { return l.f }
func (l separableLoss) form() form             { return l.f }
func (radialLoss) of(f form) framework.Loss    { return Radial(f.(RadialForm)) }
func (separableLoss) of(f form) framework.Loss { return Separable(f.(SeparableForm)) }

// Name implements [framework.Loss].
func (l radialLoss) Name() string { return l.f.Name() }

// Name implements [framework.Loss].
func (l separableLoss) Name() string { return l.f.Name() }

// Rho implements [framework.Radial].
func (l radialLoss) Rho(rho, d1, d2, u []float64) { tabulate(rho, d1, d2, u, l.f.Rho) }

// Phi implements [framework.Separable].
func (l separableLoss) Phi(phi, d1, d2, r []float64) { tabulate(phi, d1, d2, r, l.f.Phi) }

// tabulate evaluates f at each number. It writes the results for which the destination is not nil.
func tabulate(value, d1, d2, at []float64, f func(float64) (value, d1, d2 float64)) {
	for i, v := range at {
		a, b, c := f(v)
		set(value, i, a)
		set(d1, i, b)
		set(d2, i, c)
	}
}

// set writes v to dst[i] unless dst is nil.
func set(dst []float64, i int, v float64) {
	if dst != nil {
		dst[i] = v
	}
}

// Evaluate implements [framework.Loss]. The gradient is 2 rho'(|r|^2) r.
func (l radialLoss) Evaluate(values, grad, r []float64, dim int) error {
	for i := range len(r) / dim {
		row := r[i*dim : (i+1)*dim]
		rho, d1, _ := l.f.Rho(dot(row, row))
		set(values, i, rho)
		for k, v := range row {
			set(grad, i*dim+k, 2*d1*v)
		}
	}
	return nil
}

// Evaluate implements [framework.Loss]. The gradient has the entries phi'(r_k).
func (l separableLoss) Evaluate(values, grad, r []float64, dim int) error {
	for i := range len(r) / dim {
		var sum float64
		for k := i * dim; k < (i+1)*dim; k++ {
			phi, d1, _ := l.f.Phi(r[k])
			sum += phi
			set(grad, k, d1)
		}
		set(values, i, sum)
	}
	return nil
}

// HessianProduct implements [framework.SecondOrder]. The Hessian is 2 rho' I + 4 rho″
// rr'.
func (l radialLoss) HessianProduct(dst, r, v []float64, dim int) error {
	for i := range len(r) / dim {
		row, along, to := r[i*dim:(i+1)*dim], v[i*dim:(i+1)*dim], dst[i*dim:(i+1)*dim]
		_, d1, d2 := l.f.Rho(dot(row, row))
		factor := 4 * d2 * dot(row, along)
		for k := range to {
			to[k] = 2*d1*along[k] + factor*row[k]
		}
	}
	return nil
}

// HessianProduct implements [framework.SecondOrder]. The Hessian is diagonal.
func (l separableLoss) HessianProduct(dst, r, v []float64, _ int) error {
	for k, x := range r {
		_, _, d2 := l.f.Phi(x)
		dst[k] = d2 * v[k]
	}
	return nil
}

// Weights implements [framework.Majorizer]. The weight is 2 rho'(|r|^2).
func (l concaveRadial) Weights(w, r []float64, dim int) error {
	for i := range w {
		row := r[i*dim : (i+1)*dim]
		_, d1, _ := l.f.Rho(dot(row, row))
		w[i] = 2 * d1
	}
	return nil
}

// Weights implements [framework.Majorizer]. The weight is phi'(r)/r, or phi″(0) at r = 0.
func (l concaveSeparable) Weights(w, r []float64, _ int) error {
	for k, x := range r {
		_, d1, d2 := l.f.Phi(x)
		if w[k] = d2; x != 0 {
			w[k] = d1 / x
		}
	}
	return nil
}

func dot(a, b []float64) float64 {
	var sum float64
	for k, v := range a {
		sum += v * b[k]
	}
	return sum
}
