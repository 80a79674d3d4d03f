//go:build !amd64 && !arm64

package dense

const wide, fuses = false, false

func innerProductWide(_, _ []float64) float64 { none(); return 0 }

func farthestWide(_, _ []float64) float64 { none(); return 0 }

func addScaledWide([]float64, float64, []float64) { none() }

func productsWide(_, _, _ []float64) { none() }

func magnitudesWide(_, _ []float64) { none() }

func rootsWide(_, _ []float64) { none() }

func withSignsWide([]float64, float64, []float64, []float64) { none() }

func frameTileWide(*float64, int, *float64, *float64, int, *float64, *float64, int, int, int, int) {
	none()
}

func addTileWide(*float64, int, *float64, int, int, *float64, int, *float64, int, int, int) { none() }

func addTileFusedWide(*float64, int, *float64, int, int, *float64, int, *float64, int, int, int) {
	none()
}

func symmetricTileWide(*float64, *float64, *float64, int, *float64, *float64, int) { none() }

func eliminatePlanesWide(_, _, _, _, _, _, _ *float64, _, _ int) bool { none(); return false }

func products2x4Wide(*[8]float64, *float64, *float64, int, int) { none() }

func combineWide(_, _, _ []float64) { none() }

func signedSums3Wide(_, _, _ []float64, _ int) float64 { none(); return 0 }

func signedSums6Wide(_, _, _ []float64, _ int) float64 { none(); return 0 }

func signedSums10Wide(_, _, _ []float64, _ int) float64 { none(); return 0 }
