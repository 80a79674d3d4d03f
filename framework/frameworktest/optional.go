package frameworktest

import (
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
)

// The optional methods that package framework looks for in addition to its interfaces.
type (
	resumer interface {
		Resume(grad framework.Point) error
	}
	intrinsicHessian interface {
		IntrinsicHessianProduct(dst, x, v framework.Point) error
	}
	refuter interface {
		Refute(x framework.Point) (reason string, err error)
	}
	stateful interface {
		MarshalState() ([]byte, error)
		UnmarshalState(state []byte) error
	}
	differentiable interface{ Differentiable() bool }
	quotient       interface {
		Same(dst, x []float64, rng *rand.Rand)
	}
	retractionOrder interface{ RetractionOrder() int }
	selective       interface {
		Lacks(p framework.Problem) string
	}
	graded    interface{ Gradient() framework.Point }
	resumable interface {
		Resume(e *framework.Evaluator) error
	}
)
