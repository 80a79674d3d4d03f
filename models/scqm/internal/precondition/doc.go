// Package precondition is the block-diagonal approximation of the Hessian from
// which quasi-Newton methods start.
package precondition
