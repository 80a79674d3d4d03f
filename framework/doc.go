// Package framework is the vocabulary of the module: manifolds, losses,
// problems made of named blocks, solvers, and the one loop that runs them.
//
// Begin with [Solve]: it takes a [Problem], a start, a solver such as that of
// solvers.Auto, and [Options] whose zero value is the default.
//
// A problem is a cost on a product of manifolds. Each factor is a [Block] with
// a name; a [Point] holds one flat row-major slice per block. Interfaces are
// small. What a type can do beyond them it says by implementing an optional
// interface of one method, which the solvers discover by type assertion; a type
// without extras works everywhere, only slower.
//
// # Conventions
//
// Destinations come first. A destination may be the same slice as an input of
// the same shape, but must not overlap one otherwise. Inputs are never
// modified. Slices of wrong length are programming errors and panic; wrong
// data (not finite, off the manifold, a loss that fails) is an error value.
//
// The laws that an implementation must obey are exported as test suites in
// package frameworktest.
package framework
