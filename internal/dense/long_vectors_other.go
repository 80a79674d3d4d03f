//go:build !amd64

package dense

const wide = false

func innerProductAVX(x, y []float64) float64 { return innerProduct(x, y) }

func addScaledAVX(dst []float64, factor float64, x []float64) { addScaled(dst, factor, x) }
