// Package dense is the linear algebra of small dense matrices that solvers and
// models need in inner loops: Cholesky factors, eigenvectors by Jacobi rotations,
// polar factors, Newton steps and roots of cubics. Matrices are row-major slices;
// destinations come first, nothing is allocated where memory is handed in. Large
// products go to BLAS in tiles.
package dense
