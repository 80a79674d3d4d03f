package losses

//go:noescape
func hypotenuses(dst, r, table *float64, groups int) bool

//go:noescape
func powerValuesFour(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerSlopesFour(dst, r, s, w, table *float64, groups int)

//go:noescape
func powerCurvaturesFour(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteValuesFour(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteSlopesFour(dst, r, s, w, table *float64, groups int)

//go:noescape
func absoluteCurvaturesFour(dst, r, s, w, table *float64, groups int)
