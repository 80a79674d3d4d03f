//go:build !cgo

package blas

import "gonum.org/v1/gonum/blas/gonum"

// Borrowed is gonum's BLAS, in a program without calls into C.
type Borrowed struct{ gonum.Implementation }

// Borrow returns [ErrNoCgo].
func Borrow(uintptr) (*Borrowed, error) { return nil, ErrNoCgo }
