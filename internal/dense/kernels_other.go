//go:build !amd64

package dense

const wide, wider, fuses = false, false, false

func innerProductAVX(x, y []float64) float64 { return innerProduct(x, y) }

func farthestAVX(x, y []float64) float64 { return farthest(x, y) }

func addScaledAVX(dst []float64, factor float64, x []float64) { addScaled(dst, factor, x) }

func addScaledAVX512(dst []float64, factor float64, x []float64) { addScaled(dst, factor, x) }

func productsAVX(dst, x, y []float64) { products(dst, x, y) }

func magnitudesAVX(dst, x []float64) { magnitudes(dst, x) }

func rootsAVX(dst, x []float64) { roots(dst, x) }

func withSignsAVX(dst []float64, factor float64, x, y []float64) { withSigns(dst, factor, x, y) }

func frameTileAVX512(*float64, int, *float64, *float64, int, *float64, *float64, int, int, int, int) {
}

func frameTileAVX2(*float64, int, *float64, *float64, int, *float64, *float64, int, int, int, int) {}

func addTileAVX512(*float64, int, *float64, int, int, *float64, int, *float64, int, int, int) {}

func addTileFusedAVX512(*float64, int, *float64, int, int, *float64, int, *float64, int, int, int) {}

func addTileAVX2(*float64, int, *float64, int, int, *float64, int, *float64, int, int, int) {}

func addTileFusedAVX2(*float64, int, *float64, int, int, *float64, int, *float64, int, int, int) {}

func symmetricTileAVX512(*float64, *float64, *float64, int, *float64, *float64, int) {}

func symmetricTileAVX2(*float64, *float64, *float64, int, *float64, *float64, int) {}

func eliminatePlanesAVX512(_, _, _, _, _, _, _ *float64, _, _ int) bool { return false }

func eliminatePlanesAVX2(_, _, _, _, _, _, _ *float64, _, _ int) bool { return false }
