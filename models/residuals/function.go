package residuals

import "github.com/scqm/scqm/framework"

// Function maps a point to residual rows. All methods may be called from several goroutines at once.
type Function interface {
	// Blocks describes the domain. The result does not change.
	Blocks() []framework.Block
	// Shape is the number of rows and the length of each, both at least 1. They do
	// not change.
	Shape() (n, m int)
	// Residuals writes rows from, ..., to-1 at x into dst, of length (to-from) m.
	Residuals(dst []float64, x framework.Point, from, to int) error
}

// Jacobian is a [Function] with products with its Jacobian matrix: first derivatives along tangent vectors.
type Jacobian interface {
	Function
	// JacobianProduct writes D r_i(x)[v] for rows from, ..., to-1 into dst, for a
	// tangent vector v at x.
	JacobianProduct(dst []float64, x, v framework.Point, from, to int) error
	// AddTransposedProduct adds sum_i D r_i(x)' g_i over rows from, ..., to-1 to dst in the coordinates of a
	// Euclidean gradient: dst'v must be correct for all tangent vectors v at x. g holds the rows g_from, ...,
	// g_{to-1}.
	AddTransposedProduct(dst, x framework.Point, g []float64, from, to int) error
}
