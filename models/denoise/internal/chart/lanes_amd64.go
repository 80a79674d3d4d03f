package chart

//go:noescape
func weighRows(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func addPlane(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func turnChart(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func reweighChart(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func reweighRows(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func splitChart(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func assignCrease(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func feetOnCharts(table, charts *float64, groups int)
