package nearest

//go:noescape
func imagesAVX512(n, e, h, t, tau, b *float64, bStride, d, s int)

//go:noescape
func imagesAVX2(n, e, h, t, tau, b *float64, bStride, d, s int)

//go:noescape
func derivativesAVX512(h, grad, n, e, t *float64, d, s int, gram bool)

//go:noescape
func derivativesAVX2(h, grad, n, e, t *float64, d, s int, gram bool)

//go:noescape
func eliminateAVX512(h, x, r *float64, d int)

//go:noescape
func eliminateAVX2(h, x, r *float64, d int)
