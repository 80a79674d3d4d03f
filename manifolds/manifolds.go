// Package manifolds holds the manifolds of the module, one per file.
//
// Begin with the type whose points you look for, such as [Sphere] or [Stiefel].
//
// Each type says in its doc comment what its points and tangent vectors are, and
// the source of its formulas. [NewProduct] makes one manifold of several.
//
// All of them may be used by several goroutines at once. Slices of wrong
// length panic; retractions, exponentials and inverses return an error where
// the result would not be a finite point, never NaN.
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

// atLeast returns n, the number that a manifold is made of, and panics where it is below least.
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

// failed says which operation of a manifold failed and why; nil where it did not.
func failed[M fmt.Stringer](m M, operation string, cause error) error {
	if cause == nil {
		return nil
	}
	return fmt.Errorf("manifolds: %v: %s: %w", m, operation, cause)
}

// errNoPoint says that what was given is not on the manifold.
var errNoPoint = errors.New("x or y is no point of the manifold")
