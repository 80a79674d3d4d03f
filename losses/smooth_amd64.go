package losses

//go:noescape
func hypotenusesAVX512(dst, r, table *float64, groups int) bool

//go:noescape
func hypotenusesAVX2(dst, r, table *float64, groups int) bool

//go:noescape
func powerValuesAVX512(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerSlopesAVX512(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerCurvaturesAVX512(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteValuesAVX512(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteSlopesAVX512(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteCurvaturesAVX512(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerValuesAVX2(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerSlopesAVX2(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerCurvaturesAVX2(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteValuesAVX2(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteSlopesAVX2(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteCurvaturesAVX2(dst, r, s, w, table *float64, groups int)
