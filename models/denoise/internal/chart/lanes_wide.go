//go:build amd64 || arm64

package chart

//go:noescape
func weighRowsWide(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func addPlaneWide(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func turnChartWide(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func reweighChartWide(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func reweighRowsWide(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func chartInfluencesWide(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func splitChartWide(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func weighSideWide(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func spreadOfChartWide(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func assignCreaseWide(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func feetOnChartsWide(table, charts *float64, groups int)
