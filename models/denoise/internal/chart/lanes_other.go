//go:build !amd64

package chart

// There are none: kernels are plain Go.
var weighRows, addPlane, turnChart, reweighChart, reweighRows, splitChart, assignCrease kernel

var feetOnCharts func(table, charts *float64, groups int)
