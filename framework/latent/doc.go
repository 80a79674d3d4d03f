// Package latent is what problems with latent rows offer besides framework.Problem, such as
// the coordinates of rows on a curve, and what solvers ask of them: second derivatives in the
// shape of an arrowhead, sweeps between rows and outer blocks, steps of single rows, samples of
// rows, relocation, and dual variables of kinks. Functions that take an Evaluator work under
// its budget.
//
// Begin with [Sweeper].
package latent
