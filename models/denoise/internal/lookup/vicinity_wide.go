//go:build amd64 || arm64

package lookup

//go:noescape
func nearRowsWide(table, x *float64, xStride int, squares *float64, within *byte, groups int)
