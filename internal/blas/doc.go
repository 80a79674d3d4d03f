// Package blas lends the matrix product of a BLAS library that is already in
// the process, such as SciPy's, to gonum.
//
// The Go programs of this module do without: gonum computes their products, and
// nothing is linked. A Python process has an optimised dgemm in its memory
// anyway, several times as fast.
//
// # Equal bits
//
// A library with threads of its own may cut a product according to their
// number, and then sums in another order. [Borrowed] therefore cuts large
// products itself, by their shape alone, into tiles that OpenBLAS computes on
// the calling thread whatever the setting of its threads. No setting of the
// library is changed.
package blas

import "errors"

// ErrNoCgo says that this program was built without cgo, which calls into C
// need.
var ErrNoCgo = errors.New("blas: built without cgo")
