package dense

// Gram writes factor * e'e into the d x d matrix dst, for e of m x d.
func Gram(dst, e []float64, m, d int, factor float64) {
	clear(dst)
	for k := range m {
		row := e[k*d : (k+1)*d]
		for a, va := range row {
			if va == 0 { // as most are in the identity above
				continue
			}
			to, by := dst[a*d:(a+1)*d], factor*va
			for b, vb := range row {
				to[b] += float64(by * vb)
			}
		}
	}
}

// longRow is the least length of a row for which calling a kernel pays off.
const longRow = 16

// AddOuterProduct adds factor x x' to the upper triangle of dst.
func AddOuterProduct(dst, x []float64, factor float64) {
	n := len(x)
	for i, v := range x {
		v *= factor
		row := dst[i*n+i : (i+1)*n]
		if len(row) >= longRow {
			AddScaled(row, v, x[i:])
			continue
		}
		for j, u := range x[i:] {
			row[j] += float64(v * u)
		}
	}
}

// TileSide is the side length of gonum's blocks.
const TileSide = 64
