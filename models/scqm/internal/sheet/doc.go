// Package sheet has the geometry of a sheet, the quadratic manifold
//
//	f(tau) = c + U tau + V Theta' phi(tau) = c + Q z(tau),   Q'Q = I,
//
// without data. It provides coordinates, Jacobian and curvature, products of many rows with the frame, the canonical
// form, and bounds on the curvature.
package sheet
