package chart

import "github.com/scqm/scqm/models/denoise/internal/lookup"

// Kernels of the first rank, see package dense.
var (
	weighRows       = [2]kernel{weighRowsWide}
	addPlane        = [2]kernel{addPlaneWide}
	turnChart       = [2]kernel{turnChartWide}
	reweighChart    = [2]kernel{reweighChartWide}
	reweighRows     = [2]kernel{reweighRowsWide}
	chartInfluences = [2]kernel{chartInfluencesWide}
	splitChart      = [2]kernel{splitChartWide}
	weighSide       = [2]kernel{weighSideWide}
	spreadOfChart   = [2]kernel{spreadOfChartWide}
	assignCrease    = [2]kernel{assignCreaseWide}
)

// gatherRows is plain Go.
var gatherRows func(found *lookup.Near, lines, columns *float64, stride, groups int)

var feetOnCharts = [2]feetKernel{feetOnChartsWide}
