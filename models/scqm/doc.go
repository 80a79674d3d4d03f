// Package scqm is the robust subspace-constrained quadratic model of Zhai and
// Li (arXiv 2605.20300). From rows x_i of length D it learns
//
//	f(tau) = c + U tau + V Theta' phi(tau),   Q = [U V],  Q'Q = I,
//
// and a latent coordinate tau_i of length d for every row, so that the sum of
// loss(f(tau_i) - x_i) is least.
//
// Begin with [Learn]; the [Model] that it returns has Transform, Reconstruct, Project
// and Save. The package models/selection chooses a loss and dimensions.
//
// # Shapes
//
// phi(tau) = vech(tau tau') has q = d(d+1)/2 entries in the order (1,1), (1,2),
// ..., (1,d), (2,2), ..., (d,d). U is D x d, V is D x s, Theta is q x s, and
// z(tau) = [tau; Theta' phi(tau)] has m = d + s entries, so that f = c + Q z.
// All matrices are row-major; data are one sample per row.
//
// Column k of Theta holds the symmetric matrix A_k of a quadratic form:
// Theta[(i,i),k] = A_k[i,i] and Theta[(i,j),k] = 2 A_k[i,j] for i < j.
package scqm
