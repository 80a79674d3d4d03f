//go:build !amd64 && !arm64

package chart

import "github.com/scqm/scqm/models/denoise/internal/lookup"

// There are none: kernels are plain Go.
var weighRows, addPlane, turnChart, reweighChart, reweighRows, chartInfluences, splitChart, weighSide, spreadOfChart, assignCrease [2]kernel

// gatherRows is plain Go.
var gatherRows func(found *lookup.Near, lines, columns *float64, stride, groups int)

var feetOnCharts [2]feetKernel
