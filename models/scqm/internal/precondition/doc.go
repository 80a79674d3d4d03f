// Package precondition is the approximation of the Hessian from which quasi-Newton
// methods start: its diagonal blocks, and where rows are long, near a minimum, what ties
// the blocks together.
package precondition
