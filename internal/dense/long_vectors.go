package dense

import "gonum.org/v1/gonum/floats"

// InnerProduct is that of long vectors of one length. Where the processor adds products
// of four numbers at once it sums in 16 parts, elsewhere as gonum does: bits are those of
// one kind of processors.
func InnerProduct(x, y []float64) float64 {
	y = y[:len(x)]
	if fused {
		return innerProductFMA(x, y)
	}
	return floats.Dot(x, y)
}

// AddScaled adds factor times x to dst, for long vectors of one length.
func AddScaled(dst []float64, factor float64, x []float64) {
	dst = dst[:len(x)]
	if fused {
		addScaledFMA(dst, factor, x)
		return
	}
	floats.AddScaled(dst, factor, x)
}
