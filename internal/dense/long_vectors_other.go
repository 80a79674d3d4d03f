//go:build !amd64

package dense

const fused = false

func innerProductFMA(x, y []float64) float64 { panic("not for this processor") }

func addScaledFMA(dst []float64, factor float64, x []float64) { panic("not for this processor") }
