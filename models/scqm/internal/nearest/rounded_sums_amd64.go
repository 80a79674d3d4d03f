package nearest

//go:noescape
func roundedSums1AVX512(table, coefficients, x, multipliers, at, sums *float64, n int)

//go:noescape
func roundedSums2AVX512(table, coefficients, x, multipliers, at, sums *float64, n int)

//go:noescape
func roundedSums3AVX512(table, coefficients, x, multipliers, at, sums *float64, n int)

//go:noescape
func roundedSums1AVX2(table, coefficients, x, multipliers, at, sums *float64, n int)

//go:noescape
func roundedSums2AVX2(table, coefficients, x, multipliers, at, sums *float64, n int)

//go:noescape
func roundedSums3AVX2(table, coefficients, x, multipliers, at, sums *float64, n int)
