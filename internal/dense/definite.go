package dense

// Definite reports whether a symmetric n x n matrix is positive definite to working
// precision. It computes a Cholesky factor: n^3/3 operations.
func Definite(m []float64, n int) bool {
	return factors(m, n)
}
