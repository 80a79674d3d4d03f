package dense

import "math"

//go:generate sh -c "go run ./assembly planes > planes_amd64.s"
//go:generate sh -c "go run ./assembly planes_arm64 > planes_arm64.s"

// EliminatePlanes writes R_i with C_i^-1 = R_i R_i', upper triangular, for symmetric 2 x 2 matrices C_i, f_i = R_i'g_i
// and F_i = B_i R_i, which is done for as many i at a time as the processor has lanes. g and f hold the g_i and f_i one after the other, b and ff do so for
// every row of B. It reports false, and leaves what it has written undefined, where a pivot of some C_i is not above flatness times both entries of
// the diagonal.
func EliminatePlanes(roots, f, ff, c, g, b []float64, flatness float64) bool {
	n, d := len(g)/2, 4
	if wider {
		d = 8
	}
	if !wide || n < d || len(b) == 0 {
		return eliminatePlanes(roots, f, ff, c, g, b, flatness)
	}
	table := [...]float64{flatness, 1, -1}
	roots, c, f, ff = roots[:4*n], c[:4*n], f[:2*n], ff[:len(b)]
	if wider {
		return eliminatePlanesWider(&table[0], &roots[0], &c[0], &f[0], &g[0], &ff[0], &b[0], n, len(b)/(2*n))
	}
	return eliminatePlanesWide(&table[0], &roots[0], &c[0], &f[0], &g[0], &ff[0], &b[0], n, len(b)/(2*n))
}

// eliminatePlanes is what the kernels do.
func eliminatePlanes(roots, f, ff, c, g, b []float64, flatness float64) bool {
	for i := 0; i+3 < len(c); i += 4 {
		if !PlaneRoot(roots[i:i+4:i+4], c[i:i+4:i+4], flatness) {
			return false
		}
	}
	TimesPlaneRoots(f, g, roots)
	for n := len(g); len(b) >= n && n > 0; b, ff = b[n:], ff[n:] {
		TimesPlaneRoots(ff[:n], b[:n], roots)
	}
	return true
}

// PlaneRoot writes R for one C.
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

// TimesPlaneRoots writes b_i R_i for rows b_i, which b holds one after the other, and 2 x 2 matrices R_i.
func TimesPlaneRoots(dst, b, roots []float64) {
	for i := 0; i+1 < len(b) && i+1 < len(dst); i += 2 {
		r := roots[2*i : 2*i+4 : 2*i+4]
		x, y := b[i], b[i+1]
		dst[i], dst[i+1] = float64(x*r[0])+float64(y*r[2]), float64(x*r[1])+float64(y*r[3])
	}
}
