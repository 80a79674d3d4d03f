//go:build !amd64 && !arm64

package losses

func hypotenusesWide(_, _, _ *float64, _ int) bool         { return false }
func powerValuesWide(_, _, _, _, _ *float64, _ int)        {}
func powerSlopesWide(_, _, _, _, _ *float64, _ int)        {}
func powerCurvaturesWide(_, _, _, _, _ *float64, _ int)    {}
func absoluteValuesWide(_, _, _, _, _ *float64, _ int)     {}
func absoluteSlopesWide(_, _, _, _, _ *float64, _ int)     {}
func absoluteCurvaturesWide(_, _, _, _, _ *float64, _ int) {}
