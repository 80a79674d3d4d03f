package lookup

// nearRows writes squared distances of rows from the first three numbers of a table, and which of eight are up to the
// fourth.
//
//go:noescape
func nearRows(table, x *float64, xStride int, squares *float64, within *byte, groups int)
