//go:build !amd64

package nearest

func roundedSums1AVX512(_, _, _, _, _, _ *float64, _ int) {}

func roundedSums2AVX512(_, _, _, _, _, _ *float64, _ int) {}

func roundedSums3AVX512(_, _, _, _, _, _ *float64, _ int) {}

func roundedSums1AVX2(_, _, _, _, _, _ *float64, _ int) {}

func roundedSums2AVX2(_, _, _, _, _, _ *float64, _ int) {}

func roundedSums3AVX2(_, _, _, _, _, _ *float64, _ int) {}
