// Package precondition approximates the Hessian for quasi-Newton methods by its diagonal blocks and, for long rows
// near a minimum, the coupling of the blocks.
package precondition
