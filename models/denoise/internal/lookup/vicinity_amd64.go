package lookup

//go:noescape
func nearRowsAVX2(table, x *float64, xStride int, squares *float64, within *byte, groups int)

//go:noescape
func nearRowsAVX512(table, x *float64, xStride int, squares *float64, within *byte, groups int)

// nearRows is for AVX2 and AVX-512.
var nearRows = [2]nearKernel{nearRowsAVX2, nearRowsAVX512}
