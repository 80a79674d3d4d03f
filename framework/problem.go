package framework

// Problem is a cost to be minimised on a product of manifolds. A problem may keep buffers: its methods are not called
// from two goroutines at once. Further capabilities have their own interfaces: [Certifier], [Preconditioner],
// [Smoothable], [TwiceDifferentiable], [GaussNewton], those of package latent, and any that a solver finds with [As].
// A problem may also have the methods
//
//	Resume(grad Point) error                   // gradients at the point that Evaluate saw last, for less than a new evaluation
//	Refute(x Point) (reason string, err error) // why a point of small gradient is no minimum, "" where nothing says so
//	MarshalState() ([]byte, error)             // what it has learned in a run that its results depend on,
//	UnmarshalState(state []byte) error         // and takes from a stored run
//
// A line search evaluates costs only and resumes at the point that it accepts. A point that Refute rejects, as on the
// way to a minimum at infinity, is never called converged.
type Problem interface {
	// Blocks describes the domain. The result does not change.
	Blocks() []Block
	// Evaluate returns the cost at x. If grad is not nil, it also writes the Euclidean gradient for every block k
	// whose grad[k] is not nil.
	Evaluate(grad, x Point) (float64, error)
}

// Certifier is a problem with its own measure of first-order stationarity, usually scale-free. Without it, the norm
// of the Riemannian gradient of each block is used.
type Certifier interface {
	// Stationarity writes one number per block, 0 at a stationary point.
	Stationarity(dst []float64, x Point) error
}

type (
	resumer interface{ Resume(grad Point) error }
	refuter interface {
		Refute(x Point) (reason string, err error)
	}
	stateful interface {
		MarshalState() ([]byte, error)
		UnmarshalState(state []byte) error
	}
	// explorer is a problem that can find lower costs that descent cannot reach, from local minima, saddles and
	// plateaus. [latent.Explorer] is one.
	explorer interface {
		// Begin is called when a run begins. The problem must discard what it stored for earlier runs.
		Begin(e *Evaluator)
		// Explores reports whether the problem can look for lower costs.
		Explores(e *Evaluator) bool
		// Relocate moves x, in place, to a point of lower cost, possibly far away, and reports whether it found one.
		// Otherwise x is unchanged.
		Relocate(e *Evaluator, x Point) (moved bool, err error)
		// Probe moves x, a point of small gradient, to a lower cost along directions of low curvature and returns the
		// decrease. If it finds none, it returns 0 and x is unchanged.
		Probe(e *Evaluator, x Point) (gain float64, err error)
	}
)

// As finds the capability C, any interface, on a problem or on the problem that it wraps. A wrapper that hides no
// capability has a method Unwrap() Problem.
func As[C any](p Problem) (c C, ok bool) {
	for {
		if c, ok = p.(C); ok {
			return c, true
		}
		w, wraps := p.(interface{ Unwrap() Problem })
		if !wraps {
			return c, false
		}
		p = w.Unwrap()
	}
}
