// Package latent defines the optional interfaces of problems with latent rows, such as the coordinates of rows on a
// curve. They offer Hessians of arrowhead shape, sweeps between rows and outer blocks, steps of single rows, samples
// of rows, relocation, and dual variables of kinks. Functions that take an Evaluator count towards its budget.
//
// Begin with [Sweeper].
package latent
