// Package losses provides the losses of residuals, one file each, and a registry of their names.
//
// Begin with [ByName], or with the constructor of a loss, such as [L2].
//
//	l1            sum_k |r_k|
//	l2            |r|
//	squared_l2    |r|^2
//	lp            sum_k |r_k|^p, p >= 1
//	mahalanobis   r'Mr, M symmetric positive definite
//	huber         |r|^2/2 where |r| <= delta, else delta |r| - delta^2/2
//	huber_entries sum_k of the same with |r_k| in place of |r|
//	tukey, cauchy, welsch, geman_mcclure  functions of |r| that redescend, see [Tukey]
//	quantile      sum_k (1-p) r_k where r_k >= 0, else -p r_k, 0 < p < 1
//
// |r| is the Euclidean norm of a residual row r. All losses but those that redescend are convex.
// All have exact first and second derivatives and are safe for concurrent use. A loss is
// in the unit of the residuals to the power that its formula shows.
//
// # Kinks
//
// At a kink (l1, quantile and lp with p < 2: an entry that is zero; l2: a row that is
// zero) the gradient is 0, and so is the Hessian, which does not exist there.
// Weights of quadratic bounds grow without limit towards a kink; they are those
// of a residual of 1e-100 for anything smaller, so that the bound is violated
// by no more than about 1e-100.
//
// # Range
//
// Norms neither overflow nor underflow before the result does. Residuals that
// are not finite give a loss that is not finite, in their own row only.
package losses
