//go:build !amd64

package losses

func hypotenuses(_, _, _ *float64, _ int) bool { return false }

func powerValuesFour(_, _, _, _, _ *float64, _ int) {}

func powerSlopesFour(_, _, _, _, _ *float64, _ int) {}

func powerCurvaturesFour(_, _, _, _, _ *float64, _ int) {}

func absoluteValuesFour(_, _, _, _, _ *float64, _ int) {}

func absoluteSlopesFour(_, _, _, _, _ *float64, _ int) {}

func absoluteCurvaturesFour(_, _, _, _, _ *float64, _ int) {}
