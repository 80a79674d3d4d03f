// Package nearest finds the latent coordinates of the point of a sheet that is nearest to a given row (orthogonal
// distance regression). In the Euclidean norm this minimises a quartic in R^d, which does not involve D. For other
// losses Newton's method continues from its solutions.
package nearest
