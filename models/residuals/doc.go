// Package residuals fits a point of a manifold, or of a product of manifolds, to
// residual rows under any loss:
//
//	minimise F(x) = sum_i w_i loss(r_i(x)),  r_i(x) in R^m, i = 0, ..., n-1.
//
// Begin with [Fit].
//
// A [Function] defines the rows, [New] makes a framework.Problem from it and a loss, and [Fit] minimises the problem.
// Derivatives are products with the Jacobian if the function offers them ([Jacobian]), otherwise differences. With a
// loss that grows less than quadratically, outlying rows have little weight: fits are robust.
//
// [NewDistances] makes rows from the distances to points of a manifold, for Karcher means and medians.
//
// Sources: P. J. Huber, E. M. Ronchetti, Robust Statistics, Wiley 2009; B. Triggs et
// al., Bundle adjustment - a modern synthesis, LNCS 1883 (2000), section 4.
package residuals
