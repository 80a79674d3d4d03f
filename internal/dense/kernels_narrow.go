//go:build !amd64

package dense

const wider = false

// HasAVX2 reports whether kernels may use AVX2, which is false here.
func HasAVX2() bool { return false }

func frameTileWider(*float64, int, *float64, *float64, int, *float64, *float64, int, int, int, int) {
	none()
}

func addTileWider(*float64, int, *float64, int, int, *float64, int, *float64, int, int, int) { none() }

func combineWide(_, _, _ []float64) { none() }

func addColumnProductsWide([]float64, *float64, int, *float64, int, int) { none() }

// none replaces the kernels that this processor does not support. It panics, because callers check first.
func none() { panic("dense: no such instructions") }
