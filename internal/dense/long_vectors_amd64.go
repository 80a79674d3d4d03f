package dense

import "golang.org/x/sys/cpu"

var fused = cpu.X86.HasAVX2 && cpu.X86.HasFMA

//go:noescape
func innerProductFMA(x, y []float64) float64

//go:noescape
func addScaledFMA(dst []float64, factor float64, x []float64)
