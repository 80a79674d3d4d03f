// Package residuals fits a point of a manifold, or of a product of manifolds, to
// residual rows under any loss:
//
//	minimise F(x) = sum_i w_i loss(r_i(x)),  r_i(x) in R^m, i = 0, ..., n-1.
//
// Begin with [Fit].
//
// A [Function] says what the rows are, [New] makes a framework.Problem of it and a
// loss, [Fit] minimises that. Derivatives of the rows are products with the Jacobian
// where the function offers them ([Jacobian]), else differences. With a loss that grows
// less than quadratically, rows that do not fit hardly count: fits are robust.
//
// [NewDistances] makes rows of the distances from points of a manifold, for Karcher means
// and medians.
//
// Sources: P. J. Huber, E. M. Ronchetti, Robust Statistics, Wiley 2009; B. Triggs et
// al., Bundle adjustment - a modern synthesis, LNCS 1883 (2000), section 4.
package residuals
