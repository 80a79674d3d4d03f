package arrowhead

//go:noescape
func placeSurfaceAVX512(table, x, tau, e, u *float64, n int)

//go:noescape
func stepSurfaceAVX512(table, x, tau, other, form, out *float64, n int)

//go:noescape
func coupleSurfaceAVX512(table, tau, e, rho, grad, c, b, rows *float64, apart, stride, n int)

//go:noescape
func placeSurfaceAVX2(table, x, tau, e, u *float64, n int)

//go:noescape
func stepSurfaceAVX2(table, x, tau, other, form, out *float64, n int)

//go:noescape
func coupleSurfaceAVX2(table, tau, e, rho, grad, c, b, rows *float64, apart, stride, n int)

//go:noescape
func sumSurfaceAVX512(sums, rows *float64, order *int64, n int)

//go:noescape
func outerSurfaceAVX512(sums, rows *float64, order *[8]int64, n int)

//go:noescape
func rankSurfaceAVX512(sums, rows *float64, n int)

//go:noescape
func dualNormsAVX512(table, dual, e, words, u *float64, n int)

//go:noescape
func dualPowersAVX512(table, dual, e, words, u *float64, n int)

//go:noescape
func coupleDualsAVX512(table, tau, e, words, grad, c, b, rows *float64, stride, n int)

//go:noescape
func moveDualsAVX512(table, tau, e, words, dual, inner *float64, n int)

//go:noescape
func dualNormsAVX2(table, dual, e, words, u *float64, n int)

//go:noescape
func dualPowersAVX2(table, dual, e, words, u *float64, n int)

//go:noescape
func coupleDualsAVX2(table, tau, e, words, grad, c, b, rows *float64, stride, n int)

//go:noescape
func moveDualsAVX2(table, tau, e, words, dual, inner *float64, n int)
