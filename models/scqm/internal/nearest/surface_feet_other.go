//go:build !amd64 && !arm64

package nearest

func feetWide(_, _ *float64, _ int, _, _, _, _ *float64, _, _ int, _ bool) {}
