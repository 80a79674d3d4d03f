package chart

//go:noescape
func weighRowsAVX2(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func weighRowsAVX512(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func addPlaneAVX2(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func addPlaneAVX512(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func turnChartAVX2(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func turnChartAVX512(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func reweighChartAVX2(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func reweighChartAVX512(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func reweighRowsAVX2(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func reweighRowsAVX512(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func chartInfluencesAVX2(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func chartInfluencesAVX512(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func splitChartAVX2(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func splitChartAVX512(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func weighSideAVX2(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func weighSideAVX512(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func spreadOfChartAVX2(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func spreadOfChartAVX512(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

// Kernels for AVX2 and AVX-512.
var (
	weighRows       = [2]kernel{weighRowsAVX2, weighRowsAVX512}
	addPlane        = [2]kernel{addPlaneAVX2, addPlaneAVX512}
	turnChart       = [2]kernel{turnChartAVX2, turnChartAVX512}
	reweighChart    = [2]kernel{reweighChartAVX2, reweighChartAVX512}
	reweighRows     = [2]kernel{reweighRowsAVX2, reweighRowsAVX512}
	chartInfluences = [2]kernel{chartInfluencesAVX2, chartInfluencesAVX512}
	splitChart      = [2]kernel{splitChartAVX2, splitChartAVX512}
	weighSide       = [2]kernel{weighSideAVX2, weighSideAVX512}
	spreadOfChart   = [2]kernel{spreadOfChartAVX2, spreadOfChartAVX512}
)
