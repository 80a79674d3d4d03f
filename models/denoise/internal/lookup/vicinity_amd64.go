package lookup

//go:noescape
func nearRowsWider(table, x *float64, xStride int, squares *float64, within *byte, groups int)

// nearRows has kernels by rank, see package dense.
var nearRows = [2]nearKernel{nearRowsWide, nearRowsWider}
