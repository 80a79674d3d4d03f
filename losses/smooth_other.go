//go:build !amd64

package losses

func hypotenusesAVX512(_, _, _ *float64, _ int) bool { return false }
func hypotenusesAVX2(_, _, _ *float64, _ int) bool   { return false }

func powerValuesAVX512(_, _, _, _, _ *float64, _ int)        {}
func powerSlopesAVX512(_, _, _, _, _ *float64, _ int)        {}
func powerCurvaturesAVX512(_, _, _, _, _ *float64, _ int)    {}
func absoluteValuesAVX512(_, _, _, _, _ *float64, _ int)     {}
func absoluteSlopesAVX512(_, _, _, _, _ *float64, _ int)     {}
func absoluteCurvaturesAVX512(_, _, _, _, _ *float64, _ int) {}
func powerValuesAVX2(_, _, _, _, _ *float64, _ int)          {}
func powerSlopesAVX2(_, _, _, _, _ *float64, _ int)          {}
func powerCurvaturesAVX2(_, _, _, _, _ *float64, _ int)      {}
func absoluteValuesAVX2(_, _, _, _, _ *float64, _ int)       {}
func absoluteSlopesAVX2(_, _, _, _, _ *float64, _ int)       {}
func absoluteCurvaturesAVX2(_, _, _, _, _ *float64, _ int)   {}
