package dense

import "math"

// PlaneRoot writes the upper triangular R with C^-1 = RR', for a symmetric 2 x 2 matrix C.
// It returns false unless each pivot of C is above flatness times both diagonal entries.
func PlaneRoot(r, c []float64, flatness float64) bool {
	least, other := flatness*c[0], flatness*c[3]
	if !(c[0] > least) || !(c[0] > other) {
		return false
	}
	inverse := 1 / math.Sqrt(c[0])
	l := c[1] * inverse
	pivot := c[3] - float64(l*l)
	if !(pivot > least) || !(pivot > other) {
		return false
	}
	last := 1 / math.Sqrt(pivot)
	r[0], r[1], r[2], r[3] = inverse, -l*inverse*last, 0, last
	return true
}

// TimesPlaneRoots writes b_i R_i for rows b_i of length 2, stored one after the other, and 2 x 2 matrices R_i.
func TimesPlaneRoots(dst, b, roots []float64) {
	for i := 0; i+1 < len(b) && i+1 < len(dst); i += 2 {
		r := roots[2*i : 2*i+4 : 2*i+4]
		x, y := b[i], b[i+1]
		dst[i], dst[i+1] = float64(x*r[0])+float64(y*r[2]), float64(x*r[1])+float64(y*r[3])
	}
}
