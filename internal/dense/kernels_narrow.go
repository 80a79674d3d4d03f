//go:build !amd64

package dense

const wider = false

// Wide reports whether kernels may use AVX2, and whether they may use AVX-512.
func Wide() (avx2, avx512 bool) { return false, false }

func addScaledWider([]float64, float64, []float64) { none() }

func frameTileWider(*float64, int, *float64, *float64, int, *float64, *float64, int, int, int, int) {
	none()
}

func addTileWider(*float64, int, *float64, int, int, *float64, int, *float64, int, int, int) { none() }

func addTileFusedWider(*float64, int, *float64, int, int, *float64, int, *float64, int, int, int) {
	none()
}

func symmetricTileWider(*float64, *float64, *float64, int, *float64, *float64, int) { none() }

func eliminatePlanesWider(_, _, _, _, _, _, _ *float64, _, _ int) bool { none(); return false }

// none is what kernels do that the processor does not have: callers ask before.
func none() { panic("dense: no such instructions") }
