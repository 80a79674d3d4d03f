// Package chart fits quadratic surfaces to the rows about a place, by weighted regression on the coordinates of a tangent plane, with
// Tukey's loss, ridges, the two sides of thin sheets, and creases, which are two half planes that meet; and finds feet on them, the influence of each row on a foot, normals and
// curvature. Surfaces in space have kernels of their own.
package chart
