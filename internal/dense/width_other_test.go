//go:build !amd64

package dense

func setWidth(bool, bool) {}
