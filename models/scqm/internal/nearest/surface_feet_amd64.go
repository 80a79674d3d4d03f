package nearest

//go:noescape
func feetWider(table, pulled *float64, stride int, whole, x, y, u *float64, groups, steps int, nearest bool)
