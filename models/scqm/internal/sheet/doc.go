// Package sheet is the geometry of a sheet, that is a quadratic manifold
//
//	f(tau) = c + U tau + V Theta' phi(tau) = c + Q z(tau),   Q'Q = I,
//
// without data: its coordinates, Jacobian and curvature, products of many rows
// with its frame, its canonical form, and bounds on its curvature.
package sheet
