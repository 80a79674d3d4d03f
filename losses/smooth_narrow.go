//go:build !amd64

package losses

func hypotenusesWider(_, _, _ *float64, _ int) bool         { return false }
func powerValuesWider(_, _, _, _, _ *float64, _ int)        {}
func powerSlopesWider(_, _, _, _, _ *float64, _ int)        {}
func powerCurvaturesWider(_, _, _, _, _ *float64, _ int)    {}
func absoluteValuesWider(_, _, _, _, _ *float64, _ int)     {}
func absoluteSlopesWider(_, _, _, _, _ *float64, _ int)     {}
func absoluteCurvaturesWider(_, _, _, _, _ *float64, _ int) {}
