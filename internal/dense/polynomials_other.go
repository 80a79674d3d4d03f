//go:build !amd64

package dense

func combineAVX(dst, columns, factors []float64) { combine(dst, columns, factors) }

func signedSums3AVX(sums, columns, factors []float64, n int) float64 {
	return signedSums(sums, columns, factors, n)
}

func signedSums6AVX(sums, columns, factors []float64, n int) float64 {
	return signedSums(sums, columns, factors, n)
}

func signedSums10AVX(sums, columns, factors []float64, n int) float64 {
	return signedSums(sums, columns, factors, n)
}
