// Package outside is what a module of somebody else adds to the framework: a manifold, a
// loss, solvers (one with a capability of its own) and residual rows, each with the laws run on it. It was written from
// docs/guide/go.md and docs/guide/optimize.md.
package outside
