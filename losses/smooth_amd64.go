package losses

//go:noescape
func hypotenusesWider(dst, r, table *float64, groups int) bool

//go:noescape
func powerValuesWider(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerSlopesWider(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerCurvaturesWider(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteValuesWider(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteSlopesWider(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteCurvaturesWider(dst, r, s, w, table *float64, groups int)
