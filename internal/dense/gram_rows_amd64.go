package dense

//go:noescape
func products2x4AVX(dst *[8]float64, a, b *float64, stride, n int)
