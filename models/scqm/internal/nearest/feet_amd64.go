package nearest

//go:noescape
func formImages(n, e, h, t, tau, b *float64, bStride, d, s int)

//go:noescape
func formDerivatives(h, grad, n, e, t *float64, d, s int, gram bool)

//go:noescape
func formEliminate(h, x, r *float64, d int)

//go:noescape
func feetWide(table, pulled *float64, stride int, whole, x, y, u *float64, groups, steps int, nearest bool)
