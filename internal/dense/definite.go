package dense

// Definite reports whether a symmetric matrix, n x n, is positive definite to working precision, by
// its Cholesky factor: n^3/3 operations, and next to none for a tridiagonal matrix.
func Definite(m []float64, n int) bool {
	t := &Tridiagonal{make([]float64, n), make([]float64, n-1)}
	if t.read(m) {
		_, definite := t.Factor()
		return definite
	}
	return factors(m, n)
}
