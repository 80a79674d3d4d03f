//go:build !amd64

package nearest

func imagesAVX512(_, _, _, _, _, _ *float64, _, _, _ int) {}

func imagesAVX2(_, _, _, _, _, _ *float64, _, _, _ int) {}

func derivativesAVX512(_, _, _, _, _ *float64, _, _ int, _ bool) {}

func derivativesAVX2(_, _, _, _, _ *float64, _, _ int, _ bool) {}

func eliminateAVX512(_, _, _ *float64, _ int) {}

func eliminateAVX2(_, _, _ *float64, _ int) {}
