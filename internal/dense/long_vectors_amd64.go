package dense

import "golang.org/x/sys/cpu"

var (
	wide  = cpu.X86.HasAVX
	wider = cpu.X86.HasAVX512F
)

//go:noescape
func innerProductAVX(x, y []float64) float64

//go:noescape
func addScaledAVX(dst []float64, factor float64, x []float64)

//go:noescape
func addScaledAVX512(dst []float64, factor float64, x []float64)
