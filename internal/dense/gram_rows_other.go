//go:build !amd64

package dense

func products2x4AVX(*[8]float64, *float64, *float64, int, int) { panic("dense: no wide instructions") }
