package framework

import (
	"errors"
	"fmt"
)

// GaussNewton is a problem F(x) = sum_i loss(r_i(x)) that offers the Hessian of its
// Gauss-Newton model
//
//	J'WJ,  J the derivatives of the residuals r_i,
//
// W consists of the weights of a quadratic majorizer of the loss, as in iteratively reweighted least squares, or of
// its second derivatives. The model omits the second derivatives of the residuals, and is not the derivative of a
// function. With weights it is positive semidefinite at every x.
//
// Source: J. Nocedal, S. J. Wright, Numerical Optimization, Springer 2006, section 10.3.
type GaussNewton interface {
	// GaussNewtonProduct writes J'WJ at x times the tangent vector v into dst, for
	// all blocks, in the coordinates of a Euclidean gradient.
	GaussNewtonProduct(dst, x, v Point) error
}

// GaussNewton writes J'WJ v at x, as a tangent vector, into dst. It fails with errors.ErrUnsupported if the problem
// offers no such products. They count like products with the Hessian.
func (e *Evaluator) GaussNewton(dst, x, v Point) error {
	p, ok := As[GaussNewton](e.problem)
	if !ok {
		return fmt.Errorf("framework: the problem offers no Gauss-Newton products: %w", errors.ErrUnsupported)
	}
	return e.product("Gauss-Newton", dst, func() error { return p.GaussNewtonProduct(dst, x, v) }, func(k int, b Block) error {
		b.Gradient(dst[k], x[k], dst[k])
		return nil
	})
}
