package framework

// Loss is a loss function of residual rows. All methods may be called from several goroutines at once.
type Loss interface {
	// Name is the name under which users know the loss, such as "l2".
	Name() string
	// Evaluate evaluates the loss of a batch of rows. r holds len(r)/dim rows of dim entries each. If values is not
	// nil, it receives one loss per row. If grad is not nil, it receives the gradients in the shape of r; at a kink
	// any subgradient. Row i of the results depends on row i of r only. grad may be the same slice as r.
	//
	// Losses are finite and at least 0 for finite residuals, unless the loss overflows for a large residual. For a
	// residual row that is not finite, a loss may return anything, as a bounded one does, provided that other rows do
	// not change. [Solve] does not evaluate at points that are not finite.
	Evaluate(values, grad, r []float64, dim int) error
}

// Radial is a loss that depends on the norm of a row only: loss(r) = rho(|r|^2).
type Radial interface {
	Loss
	// Rho evaluates rho and its first two derivatives at the squared norms u. nil destinations are skipped. For
	// derivatives that do not exist (a kink at u = 0) it returns the finite values that the loss documents.
	Rho(rho, d1, d2, u []float64)
}

// Separable is a loss that is a sum over entries: loss(r) = sum_k phi(r_k).
type Separable interface {
	Loss
	// Phi evaluates phi and its first two derivatives entry by entry. nil destinations are skipped.
	Phi(phi, d1, d2, r []float64)
}

// Quadratic is the loss r'Mr for a symmetric positive definite M.
type Quadratic interface {
	Loss
	// Matrix returns M, dim x dim, row-major. The caller must not change it.
	Matrix() []float64
}

// Majorizer offers weights of a quadratic upper bound: with w = Weights(r0),
// loss(r) <= loss(r0) + 1/2 sum_k w_k (r_k^2 - r0_k^2) for every r.
type Majorizer interface {
	// Weights writes one weight per row if the loss is [Radial], otherwise one per entry. Weights are finite and at
	// least 0.
	Weights(w, r []float64, dim int) error
}

// SecondOrder offers Hessian-vector products, row by row.
type SecondOrder interface {
	// HessianProduct writes into row i of dst the product of the Hessian of
	// the loss at row i of r with row i of v. dst may be v.
	HessianProduct(dst, r, v []float64, dim int) error
}

// Smoother is a loss with kinks that has a smooth approximation.
type Smoother interface {
	// Smooth returns the loss with its kinks smoothed over the length eps > 0, in the unit of the residuals;
	// Smooth(0) returns the loss itself. Smoothed and original loss differ by at most a constant times eps per entry.
	Smooth(eps float64) Loss
}
