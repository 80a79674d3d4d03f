//go:build amd64 || arm64

package nearest

//go:noescape
func feetWide(table, pulled *float64, stride int, whole, x, y, u *float64, groups, steps int, nearest bool)
