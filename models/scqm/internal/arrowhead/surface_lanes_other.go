//go:build !amd64

package arrowhead

func placeSurfaceAVX512(_, _, _, _, _ *float64, _ int) {}

func stepSurfaceAVX512(_, _, _, _, _, _ *float64, _ int) {}

func coupleSurfaceAVX512(_, _, _, _, _, _, _, _ *float64, _, _, _ int) {}

func placeSurfaceAVX2(_, _, _, _, _ *float64, _ int) {}

func stepSurfaceAVX2(_, _, _, _, _, _ *float64, _ int) {}

func coupleSurfaceAVX2(_, _, _, _, _, _, _, _ *float64, _, _, _ int) {}

func sumSurfaceAVX512(_, _ *float64, _ *int64, _ int) {}

func outerSurfaceAVX512(_, _ *float64, _ *[8]int64, _ int) {}

func rankSurfaceAVX512(_, _ *float64, _ int) {}

func dualNormsAVX512(_, _, _, _, _ *float64, _ int) {}

func dualPowersAVX512(_, _, _, _, _ *float64, _ int) {}

func coupleDualsAVX512(_, _, _, _, _, _, _, _ *float64, _, _ int) {}

func moveDualsAVX512(_, _, _, _, _, _ *float64, _ int) {}

func dualNormsAVX2(_, _, _, _, _ *float64, _ int) {}

func dualPowersAVX2(_, _, _, _, _ *float64, _ int) {}

func coupleDualsAVX2(_, _, _, _, _, _, _, _ *float64, _, _ int) {}

func moveDualsAVX2(_, _, _, _, _, _ *float64, _ int) {}
