//go:build !amd64

package nearest

func formImages(_, _, _, _, _, _ *float64, _, _, _ int) {}

func formDerivatives(_, _, _, _, _ *float64, _, _ int, _ bool) {}

func formEliminate(_, _, _ *float64, _ int) {}

func feetWide(_, _ *float64, _ int, _, _, _, _ *float64, _, _ int, _ bool) {}
