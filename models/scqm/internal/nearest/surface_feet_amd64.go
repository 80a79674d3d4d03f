package nearest

//go:noescape
func feetAVX512(table, pulled *float64, stride int, whole, x, y, u *float64, groups, steps int, nearest bool)

//go:noescape
func feetAVX2(table, pulled *float64, stride int, whole, x, y, u *float64, groups, steps int, nearest bool)
