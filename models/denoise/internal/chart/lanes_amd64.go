package chart

import "github.com/scqm/scqm/models/denoise/internal/lookup"

//go:noescape
func weighRowsWider(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func addPlaneWider(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func turnChartWider(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func reweighChartWider(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func reweighRowsWider(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func chartInfluencesWider(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func splitChartWider(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func weighSideWider(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func spreadOfChartWider(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func assignCreaseWider(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

//go:noescape
func feetOnChartsWider(table, charts *float64, groups int)

var feetOnCharts = [2]feetKernel{feetOnChartsWide, feetOnChartsWider}

//go:noescape
func gatherRowsWide(found *lookup.Near, lines, columns *float64, stride, groups int)

// gatherRows gathers groups of rows: see charts.go of the generator.
var gatherRows = gatherRowsWide

// Kernels by rank, see package dense.
var (
	weighRows       = [2]kernel{weighRowsWide, weighRowsWider}
	addPlane        = [2]kernel{addPlaneWide, addPlaneWider}
	turnChart       = [2]kernel{turnChartWide, turnChartWider}
	reweighChart    = [2]kernel{reweighChartWide, reweighChartWider}
	reweighRows     = [2]kernel{reweighRowsWide, reweighRowsWider}
	chartInfluences = [2]kernel{chartInfluencesWide, chartInfluencesWider}
	splitChart      = [2]kernel{splitChartWide, splitChartWider}
	weighSide       = [2]kernel{weighSideWide, weighSideWider}
	spreadOfChart   = [2]kernel{spreadOfChartWide, spreadOfChartWider}
	assignCrease    = [2]kernel{assignCreaseWide, assignCreaseWider}
)
