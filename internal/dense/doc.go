// Package dense provides linear algebra of small dense matrices for inner loops of solvers and models: Cholesky
// factors, eigenvectors by Jacobi rotations, polar factors, Newton steps and roots of cubics. Matrices are row-major
// slices. Destinations come first, and functions with caller-provided memory do not allocate. Large products go to
// BLAS in tiles.
package dense
