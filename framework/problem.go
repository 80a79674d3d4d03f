package framework

// Problem is a cost to be minimised on a product of manifolds. A problem may
// keep buffers: its methods are not called from two goroutines at once.
type Problem interface {
	// Blocks describes the domain. The result does not change.
	Blocks() []Block
	// Evaluate returns the cost at x. Where grad is not nil, it also writes
	// the Euclidean gradient for every block k whose grad[k] is not nil.
	Evaluate(grad, x Point) (float64, error)
}

// Resumer is a problem that can add gradients to its latest evaluation for
// less than a new one. A line search evaluates costs only and resumes at the
// point that it accepts.
type Resumer interface {
	// Resume writes the gradients asked for at the point that Evaluate saw
	// last.
	Resume(grad Point) error
}

// Certifier is a problem with a measure of first-order stationarity of its
// own, usually free of scale. Where it is missing, the norm of the Riemannian
// gradient of each block serves.
type Certifier interface {
	// Stationarity writes one number per block, 0 at a stationary point.
	Stationarity(dst []float64, x Point) error
}
