package plugins

import "github.com/scqm/scqm/framework"

// RadialForm is a function of one number that makes a loss: rho(|r|^2). If it is
// a pointer to a struct, its fields are parameters, see [Serve].
type RadialForm interface {
	// Name is the name of the loss.
	Name() string
	// Rho returns rho(u) and its first two derivatives for u >= 0, finite for
	// finite u. For a derivative that does not exist it returns a finite value.
	Rho(u float64) (rho, d1, d2 float64)
}

// SeparableForm is a function of one number that makes a loss: sum_k phi(r_k).
// If it is a pointer to a struct, its fields are parameters, see [Serve].
type SeparableForm interface {
	// Name is the name of the loss.
	Name() string
	// Phi returns phi(r) and its first two derivatives, finite for finite r.
	// For a derivative that does not exist it returns a finite value.
	Phi(r float64) (phi, d1, d2 float64)
}

// form is what both have.
type form interface{ Name() string }

// formed is a loss made of a form.
type formed interface {
	framework.Loss
	form() form
	// of makes the same kind of loss of another form.
	of(form) framework.Loss
}

// Radial returns the loss of a form with gradients, Hessian products and, where
// its document says that it is Concave, weights.
func Radial(f RadialForm) framework.Loss {
	l := radialLoss{f}
	if isConcave(f) {
		return concaveRadial{l}
	}
	return l
}

// Separable returns the loss of a form with gradients, Hessian products and,
// where its document says that it is Concave, weights.
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

// tabulate writes a function and its derivatives, each where it is asked for.
func tabulate(value, d1, d2, at []float64, f func(float64) (value, d1, d2 float64)) {
	for i, v := range at {
		a, b, c := f(v)
		set(value, i, a)
		set(d1, i, b)
		set(d2, i, c)
	}
}

// set writes a result that is asked for.
func set(dst []float64, i int, v float64) {
	if dst != nil {
		dst[i] = v
	}
}

// Evaluate implements [framework.Loss]: the gradient is 2 rho'(|r|^2) r.
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

// Evaluate implements [framework.Loss]: the gradient has entries phi'(r_k).
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

// HessianProduct implements [framework.SecondOrder]: the Hessian is
// 2 rho' I + 4 rho″ rr'.
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

// HessianProduct implements [framework.SecondOrder]: the Hessian is diagonal.
func (l separableLoss) HessianProduct(dst, r, v []float64, _ int) error {
	for k, x := range r {
		_, _, d2 := l.f.Phi(x)
		dst[k] = d2 * v[k]
	}
	return nil
}

// Weights implements [framework.Majorizer]: 2 rho'(|r|^2).
func (l concaveRadial) Weights(w, r []float64, dim int) error {
	for i := range w {
		row := r[i*dim : (i+1)*dim]
		_, d1, _ := l.f.Rho(dot(row, row))
		w[i] = 2 * d1
	}
	return nil
}

// Weights implements [framework.Majorizer]: phi'(r)/r, and phi″(0) at 0.
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
