package framework

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// TwiceDifferentiable is a problem that offers second derivatives. A problem whose cost is only defined on the
// manifolds has the method IntrinsicHessianProduct(dst, x, v Point) error instead. It writes the Riemannian Hessian
// at x along the tangent vector v into dst, for all blocks.
type TwiceDifferentiable interface {
	// HessianProduct writes the Euclidean Hessian of the cost at x times v into dst, for all blocks: v and dst have
	// the shape of x.
	HessianProduct(dst, x, v Point) error
}

type intrinsicHessian interface {
	IntrinsicHessianProduct(dst, x, v Point) error
}

// differenceStep is the step length of a difference of gradients, relative to the length of the point, at least 1. It
// balances truncation and rounding errors.
const differenceStep = 0x1p-20

// gradientDifferences holds the buffers for differences of gradients.
type gradientDifferences struct{ euclidean, x, grad, step Point }

// HasHessian reports whether the problem and all its manifolds have second derivatives, so that Hessian needs no
// differences.
func (e *Evaluator) HasHessian() bool {
	if _, ok := As[intrinsicHessian](e.problem); ok {
		return true
	}
	if _, ok := As[TwiceDifferentiable](e.problem); !ok {
		return false
	}
	for _, b := range e.blocks {
		if _, ok := b.Manifold.(HessianConverter); !ok {
			return false
		}
	}
	return true
}

// Hessian writes the Riemannian Hessian of the cost at x along the tangent vector v into dst; grad is the Euclidean
// gradient at x. If the problem or a manifold has no second derivatives, it uses a difference of gradients along the
// retraction, with a relative error of about 1e-6, which takes an evaluation. Each product counts as one pass, is
// limited by the budget like evaluations, and ends when the context is done.
func (e *Evaluator) Hessian(dst, x, grad, v Point) error {
	if e.differences.x == nil {
		d := &e.differences
		for _, p := range []*Point{&d.euclidean, &d.x, &d.grad, &d.step} {
			*p = NewPoint(e.blocks)
		}
	}
	if !e.HasHessian() {
		return e.differenceHessian(dst, x, grad, v)
	}
	own, intrinsic := As[intrinsicHessian](e.problem)
	if intrinsic {
		return e.product("Hessian", dst, func() error { return own.IntrinsicHessianProduct(dst, x, v) }, nil)
	}
	h := e.differences.euclidean
	twice, _ := As[TwiceDifferentiable](e.problem)
	return e.product("Hessian", dst, func() error { return twice.HessianProduct(h, x, v) }, func(k int, b Block) error {
		return b.Hessian(dst[k], x[k], grad[k], h[k], v[k])
	})
}

// product computes a Hessian product under the budget, then calls the function that finishes its blocks, unless it is
// nil. The result in dst must be finite.
func (e *Evaluator) product(name string, dst Point, compute func() error, finish func(k int, b Block) error) error {
	if err := e.admit(1); err != nil {
		return err
	}
	e.trial.See()
	e.lastValid = false
	if err := compute(); err != nil {
		return e.failure(fmt.Errorf("%s product: %w", name, err))
	}
	e.counts.Hessians++
	e.counts.Passes++
	for k, b := range e.blocks {
		if finish != nil {
			if err := finish(k, b); err != nil {
				return fmt.Errorf("block %s: %w", b.Name, err)
			}
		}
		if !(Point{dst[k]}).Finite() {
			return fmt.Errorf("%w: the %s product of block %s has NaN or Inf at a point of finite cost", ErrNonFinite, name, b.Name)
		}
	}
	return nil
}

// differenceHessian writes (P grad F(R(t v)) - grad F) / t into dst. A step to a point that is not finite is
// shortened.
func (e *Evaluator) differenceHessian(dst, x, grad, v Point) error {
	length := v.Norm()
	whole := differenceStep * math.Max(1, x.Norm()) / length
	if math.IsInf(whole, 1) { // a vector of next to no length
		dst.Zero()
		return nil
	}
	for t := whole; ; t /= 16 {
		ok, err := e.gradientAlong(x, v, t)
		if err != nil {
			return err
		}
		if ok {
			e.difference(dst, x, grad, t)
			return nil
		}
		if !(t > 0) {
			return fmt.Errorf("%w: differences of gradients along a vector of length %v", ErrNonFinite, length)
		}
	}
}

// gradientAlong evaluates the Riemannian gradient at R(t v) and reports whether the cost is finite there. Costs that
// stay infinite end in an error.
func (e *Evaluator) gradientAlong(x, v Point, t float64) (bool, error) {
	d, blocks := &e.differences, Product(e.blocks)
	d.step.CopyFrom(v)
	d.step.Scale(t)
	if blocks.Retract(d.x, x, d.step) != nil {
		return false, nil // too long a step
	}
	cost, err := e.Evaluate(d.grad, d.x)
	if err != nil || math.IsInf(cost, 0) {
		return false, err
	}
	blocks.Gradient(d.grad, d.x, d.grad)
	return true, nil
}

func (e *Evaluator) difference(dst, x, grad Point, t float64) {
	d := &e.differences
	for k, b := range e.blocks {
		// The change of the gradient in the surrounding space, projected, is what the
		// connection of a submanifold measures; a transport may turn vectors besides.
		dst := dst[k]
		if _, ok := b.Manifold.(Metric); ok {
			b.Transport(dst, d.x[k], x[k], d.grad[k])
		} else {
			copy(dst, d.grad[k])
		}
		b.Gradient(d.step[k], x[k], grad[k])
		floats.Sub(dst, d.step[k])
		floats.Scale(1/t, dst)
		b.Project(dst, x[k], dst)
	}
}
