// Package objective is the cost of a sheet with latent coordinates on data,
//
//	sum_i w_i loss(f(tau_i) - x_i) + Lambda sum_k |A_k|_F^2,
//
// as a function of c, Q, Theta and Tau. It provides values, first derivatives, first-order residuals with their
// certificate, smoothing of kinks, and the IRLS weights, which approximate the curvature of the loss. One evaluation
// takes about 2nDm operations and the loss of n rows.
package objective
