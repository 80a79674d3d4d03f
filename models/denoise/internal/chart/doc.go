// Package chart fits quadratic surfaces to nearby rows, by weighted regression on the coordinates of a tangent plane,
// with Tukey's loss and ridges. It also fits the two sides of thin sheets, and creases, which are two half planes
// that meet. It computes projections onto them, the influence of each row on a projection, normals and curvature.
// Surfaces in space have their own kernels.
package chart
