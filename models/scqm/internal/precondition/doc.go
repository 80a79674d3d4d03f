// Package precondition is the approximation of the Hessian from which quasi-Newton
// methods start: its diagonal blocks and, for long rows near a minimum, the coupling
// of the blocks.
package precondition
