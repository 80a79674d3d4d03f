// Package nearest finds the latent coordinates of points of a sheet that are
// nearest to given rows. In the Euclidean norm that is a quartic in R^d for every
// row, in which D no longer occurs (orthogonal distance regression); for other
// losses Newton's method continues from its solutions.
package nearest
