//go:build !amd64

package denoise

// There are none: kernels are plain Go.
var weighRows, addPlane, turnChart, reweighChart, chartInfluences [2]kernel

var nearRows [2]nearKernel
