//go:build amd64 || arm64

package losses

//go:noescape
func hypotenusesWide(dst, r, table *float64, groups int) bool

//go:noescape
func powerValuesWide(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerSlopesWide(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerCurvaturesWide(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteValuesWide(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteSlopesWide(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteCurvaturesWide(dst, r, s, w, table *float64, groups int)
