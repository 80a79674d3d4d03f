package nearest

//go:noescape
func cellsBegin1AVX512(table, group *float64)

//go:noescape
func cellsExtend1AVX512(table, group, cuts *float64, n int)

//go:noescape
func cellsBegin2AVX512(table, group *float64)

//go:noescape
func cellsExtend2AVX512(table, group, cuts *float64, n int)

//go:noescape
func cellsBegin3AVX512(table, group *float64)

//go:noescape
func cellsExtend3AVX512(table, group, cuts *float64, n int)

//go:noescape
func cellsBegin1AVX2(table, group *float64)

//go:noescape
func cellsExtend1AVX2(table, group, cuts *float64, n int)

//go:noescape
func cellsBegin2AVX2(table, group *float64)

//go:noescape
func cellsExtend2AVX2(table, group, cuts *float64, n int)

//go:noescape
func cellsBegin3AVX2(table, group *float64)

//go:noescape
func cellsExtend3AVX2(table, group, cuts *float64, n int)
