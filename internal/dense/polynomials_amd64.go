package dense

//go:noescape
func combineAVX(dst, columns, factors []float64)

//go:noescape
func signedSums3AVX(sums, columns, factors []float64, n int) float64

//go:noescape
func signedSums6AVX(sums, columns, factors []float64, n int) float64

//go:noescape
func signedSums10AVX(sums, columns, factors []float64, n int) float64
