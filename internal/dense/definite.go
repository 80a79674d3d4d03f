package dense

// Definite reports whether a symmetric matrix, n x n, is positive definite to working precision, by
// its Cholesky factor: n^3/3 operations.
func Definite(m []float64, n int) bool {
	return factors(m, n)
}
