package framework

import (
	"errors"
	"fmt"
	"math"
)

// checkPoints fails if x or y is off the manifold by more than maxViolation, or is not finite.
func (b Block) checkPoints(x, y []float64) error {
	for _, p := range []struct {
		name string
		at   []float64
	}{{"x", x}, {"y", y}} {
		if v := b.Violation(p.at); !(v <= maxViolation) {
			return fmt.Errorf("framework: %s is off the manifold %v by %.3g: %w", p.name, b.Manifold, v, ErrInvalid)
		}
	}
	return nil
}

// Exp writes the end of the geodesic from x along v. It fails with
// errors.ErrUnsupported where the manifold is no [Exper].
func (b Block) Exp(dst, x, v []float64) error {
	m, ok := b.Manifold.(Exper)
	if !ok {
		return b.lacks("exponential map")
	}
	for i := range b.Rows() {
		if err := m.Exp(b.Row(dst, i), b.Row(x, i), b.Row(v, i)); err != nil {
			return err
		}
	}
	return nil
}

// Log writes the tangent vector at x that leads to y. It fails with
// errors.ErrUnsupported where the manifold is no [Logarithm], and with [ErrInvalid]
// where x or y is off the manifold by more than 1e-6.
func (b Block) Log(dst, x, y []float64) error {
	m, ok := b.Manifold.(Logarithm)
	if !ok {
		return b.lacks("logarithm")
	}
	if err := b.checkPoints(x, y); err != nil {
		return err
	}
	for i := range b.Rows() {
		if err := m.Log(b.Row(dst, i), b.Row(x, i), b.Row(y, i)); err != nil {
			return err
		}
	}
	return nil
}

// Distance is the length of the shortest geodesic from x to y, the root of the
// sum of the squared distances of the rows. It fails with
// errors.ErrUnsupported where the manifold is no [Distance], and with [ErrInvalid]
// where x or y is off the manifold by more than 1e-6.
func (b Block) Distance(x, y []float64) (float64, error) {
	m, ok := b.Manifold.(Distance)
	if !ok {
		return 0, b.lacks("distance")
	}
	if err := b.checkPoints(x, y); err != nil {
		return 0, err
	}
	var sum float64
	for i := range b.Rows() {
		d, err := m.Distance(b.Row(x, i), b.Row(y, i))
		if err != nil {
			return 0, err
		}
		sum = math.Hypot(sum, d)
	}
	return sum, nil
}

// Hessian converts the Euclidean gradient g and Hessian-vector product h along
// the tangent vector v into the Riemannian Hessian-vector product. It fails with
// errors.ErrUnsupported where the manifold is no [HessianConverter].
func (b Block) Hessian(dst, x, g, h, v []float64) error {
	m, ok := b.Manifold.(HessianConverter)
	if !ok {
		return b.lacks("conversion of Hessians")
	}
	for i := range b.Rows() {
		m.RiemannianHessian(b.Row(dst, i), b.Row(x, i), b.Row(g, i), b.Row(h, i), b.Row(v, i))
	}
	return nil
}

// lacks returns the error for an operation that the manifold does not have.
func (b Block) lacks(operation string) error {
	return fmt.Errorf("framework: %T has no %s: %w", b.Manifold, operation, errors.ErrUnsupported)
}
