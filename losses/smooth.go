package losses

import "github.com/scqm/scqm/internal/dense"

//go:generate sh -c "go run ../internal/dense/assembly smooth > smooth_amd64.s"

// roundedEntries computes losses by entry that are smoothed over eps, through s = sqrt(r^2 + eps^2). It processes as
// many entries at a time as the processor has lanes, with the same bits as plain Go.
type roundedEntries struct{ table smoothTable }

// smoothTable is what the kernels read. eps is above tiny, so that its square is a normal number.
type smoothTable struct {
	one     float64
	square  float64 // of eps
	most    float64 // above this r^2 + eps^2, s is computed by hypot
	eps     float64
	power   float64 // p
	bend    float64 // 2-p
	inverse float64 // of eps
	below   float64 // the (r/eps)^2 below which the series gives the value
	offset  float64 // eps^p
	series  [seriesTerms]float64
}

// term is a number of an entry r, for s and w = s^(p-1).
type term int

const (
	powerValues term = iota
	powerSlopes
	powerCurvatures
	absoluteValues
	absoluteSlopes
	absoluteCurvatures
)

func newRoundedEntries(eps float64) roundedEntries {
	return roundedEntries{smoothTable{one: 1, square: eps * eps, most: maxSquares, eps: eps}}
}

// hypotenuses writes s, for at most blockLength entries.
func (e *roundedEntries) hypotenuses(dst, r []float64) {
	dst = dst[:len(r)]
	done := 0
	if dense.HasAVX2() && len(r) >= 4 && hypotenuses(&dst[0], &r[0], &e.table.one, len(r)/4) {
		done = len(r) / 4 * 4
	}
	for k, v := range r[done:] {
		dst[done+k] = hypotenuse(v, e.table.eps)
	}
}

// write computes one number of each entry where dst is not nil. dst may be r.
func (e *roundedEntries) write(dst, r, s, w []float64, by term) {
	if dst == nil {
		return
	}
	n, done := len(r), 0
	dst, s, w = dst[:n], s[:n], w[:n]
	if dense.HasAVX2() && n >= 4 {
		by.four(&dst[0], &r[0], &s[0], &w[0], &e.table.one, n/4)
		done = n / 4 * 4
	}
	for k := done; k < n; k++ {
		dst[k] = by.plain(&e.table, r[k], s[k], w[k])
	}
}

// four writes the term of the given number of groups of four entries.
func (k term) four(dst, r, s, w, table *float64, groups int) {
	switch k {
	case powerValues:
		powerValuesFour(dst, r, s, w, table, groups)
	case powerSlopes:
		powerSlopesFour(dst, r, s, w, table, groups)
	case powerCurvatures:
		powerCurvaturesFour(dst, r, s, w, table, groups)
	case absoluteValues:
		absoluteValuesFour(dst, r, s, w, table, groups)
	case absoluteSlopes:
		absoluteSlopesFour(dst, r, s, w, table, groups)
	case absoluteCurvatures:
		absoluteCurvaturesFour(dst, r, s, w, table, groups)
	}
}

// plain is what the kernels do for one entry.
func (k term) plain(t *smoothTable, r, s, w float64) float64 {
	switch k {
	case powerValues:
		return powerValue(t, r, s, w)
	case powerSlopes:
		return t.power * w / s * r
	case powerCurvatures:
		return powerCurvature(t, r, s, w)
	case absoluteValues: // s - eps without cancellation
		return r / (s + t.eps) * r
	case absoluteSlopes:
		return r / s
	default:
		ratio := t.eps / s
		return float64(ratio*ratio) / s
	}
}
