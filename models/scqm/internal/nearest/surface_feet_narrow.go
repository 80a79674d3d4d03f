//go:build !amd64

package nearest

func feetWider(_, _ *float64, _ int, _, _, _, _ *float64, _, _ int, _ bool) {}
