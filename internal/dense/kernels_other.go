//go:build !amd64 && !arm64

package dense

const wide = false

func innerProductWide(_, _ []float64) float64 { none(); return 0 }

func addScaledWide([]float64, float64, []float64) { none() }

func frameTileWide(*float64, int, *float64, *float64, int, *float64, *float64, int, int, int, int) {
	none()
}

func addTileWide(*float64, int, *float64, int, int, *float64, int, *float64, int, int, int) { none() }

func products2x4Wide(*[8]float64, *float64, *float64, int, int) { none() }
