//go:build !amd64

package nearest

func feetAVX512(_, _ *float64, _ int, _, _, _, _ *float64, _, _ int, _ bool) {}

func feetAVX2(_, _ *float64, _ int, _, _, _, _ *float64, _, _ int, _ bool) {}
