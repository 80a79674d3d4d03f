// Package framework defines the interfaces of the module: manifolds, losses, problems made of named blocks, and
// solvers. It also has the one loop that runs solvers.
//
// Begin with [Solve]: it takes a [Problem], a start, a solver such as that of
// solvers.Auto, and [Options] whose zero value is the default.
//
// A problem is a cost on a product of manifolds. Each factor is a [Block] with a name; a [Point] holds one flat
// row-major slice per block. Interfaces are small. A type declares further capabilities by optional interfaces of one
// method, which solvers discover by type assertion. A type without them works everywhere, only more slowly.
//
// # Conventions
//
// Destinations come first. A destination may be the same slice as an input of
// the same shape, but must not overlap one otherwise. Inputs are never
// modified. Slices of wrong length are programming errors and panic; wrong
// data (not finite, off the manifold, a loss that fails) is an error value.
//
// Package frameworktest exports test suites for the laws that an implementation must obey.
package framework
