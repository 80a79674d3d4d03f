// Package manifolds provides the manifolds of the module, one per file.
//
// Begin with the type of your points, such as [Sphere] or [Stiefel].
//
// The doc comment of each type defines its points and tangent vectors, and gives the source of its formulas.
// [NewProduct] combines several manifolds.
//
// All of them may be used by several goroutines at once. Slices of wrong length panic. Retractions, exponentials and
// inverses return an error instead of a point that is not finite.
package manifolds

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
)

// mustFit panics unless every slice has length size.
func mustFit(size int, slices ...[]float64) {
	for _, s := range slices {
		if len(s) != size {
			panic(fmt.Sprintf("manifolds: slice of length %d where the manifold has size %d", len(s), size))
		}
	}
}

// atLeast returns n, the size parameter of a manifold, and panics if it is below least.
func atLeast(least int, name string, n int) int {
	if n < least {
		panic(fmt.Sprintf("manifolds: %s %d: the number must be at least %d", name, n, least))
	}
	return n
}

// nonFinite returns the index of the first entry of x that is NaN or Inf, or -1.
func nonFinite(x []float64) int {
	// Such entries poison the sum. So does overflow, which costs time only.
	if s := floats.Sum(x); s-s == 0 {
		return -1
	}
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

// checkFinite returns an error that names the first entry of x that is NaN or
// Inf.
func checkFinite(x []float64) error {
	if i := nonFinite(x); i >= 0 {
		return fmt.Errorf("entry %d is %g", i, x[i])
	}
	return nil
}

// failed names the failed operation of a manifold in an error; it returns nil for nil.
func failed[M fmt.Stringer](m M, operation string, cause error) error {
	if cause == nil {
		return nil
	}
	return fmt.Errorf("manifolds: %v: %s: %w", m, operation, cause)
}

// errNoPoint reports that an argument is not on the manifold.
var errNoPoint = errors.New("x or y is no point of the manifold")
