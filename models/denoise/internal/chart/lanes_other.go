//go:build !amd64 && !arm64

package chart

// There are none: kernels are plain Go.
var weighRows, addPlane, turnChart, reweighChart, reweighRows, chartInfluences, splitChart, weighSide, spreadOfChart [2]kernel
