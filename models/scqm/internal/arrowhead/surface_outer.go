package arrowhead

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// The sums over rows of surfaces that take most operations have a row at a time, with columns of J in lanes, and the bits
// of plain Go: w J'HJ with gradients times features, and the products of J'e with itself.

// outerSums takes rows of a batch for such sums.
type outerSums struct {
	lanes int // 8 where the kernels apply
	n     int // rows that wait
	rows  []float64
	sums  [15][8]float64
}

const (
	// outerWords and rankWords are the numbers of a row.
	outerWords, rankWords = 16, 18
	// outerRows is the number of rows that wait at most.
	outerRows = BatchRows
)

// surfaceOrder names, among [x y z 1], the two factors of features, entries of the first and the second row of J, and the
// two factors of those of the third one, and holds the signs of the second and the third row.
var surfaceOrder = [8][8]int64{
	{3, 0, 1, 2, 0, 0, 1, 3}, {3, 3, 3, 3, 0, 1, 1, 3},
	{0, 0, 1, 2, 0, 0, 0, 0}, {3, 0, 0, 0, 2, 0, 0, 0},
	{0, 3, 0, 0, 1, 0, 0, 1}, {3, 3, 3, 3, 3, 0, 1, 1},
	{2: math.MinInt64}, {3: math.MinInt64, 4: math.MinInt64},
}

// room makes room for the rows that wait.
func (k *outerSums) room() {
	if k.rows == nil {
		k.rows = make([]float64, outerRows*rankWords)
	}
}

// load takes the sums so far, but for the first entry.
func (k *outerSums) load(s *sums) {
	for p := range 9 {
		copy(k.sums[p][:], s.a[9*p+1:9*p+9])
	}
	for r := range 3 {
		copy(k.sums[9+r][:], s.gh[7*r:7*r+7])
		if len(s.dual) > 0 {
			copy(k.sums[12+r][:], s.dual[7*r:7*r+7])
		}
	}
}

// store hands them over.
func (k *outerSums) store(s *sums) {
	for p := range 9 {
		copy(s.a[9*p+1:9*p+9], k.sums[p][:])
	}
	for r := range 3 {
		copy(s.gh[7*r:7*r+7], k.sums[9+r][:])
		if len(s.dual) > 0 {
			copy(s.dual[7*r:7*r+7], k.sums[12+r][:])
		}
	}
}

// add adds weight J'HJ of a row to s, and features times slope and the gradient of the row, which have the weight.
func (k *outerSums) add(s *sums, row *row3D, h *[7]float64, hess *[9]float64, slope *[3]float64, weight float64) {
	if k.lanes < 8 {
		row.addOuter((*[81]float64)(s.a), h, hess, weight)
		for r, v := range row.g {
			g := (*[7]float64)(s.gh[7*r:])
			for j, u := range h {
				g[j] += slope[r] * u
			}
			if len(s.dual) > 0 {
				dual := (*[7]float64)(s.dual[7*r:])
				for j, u := range h {
					dual[j] += v * u
				}
			}
		}
		return
	}
	k.room()
	first := weight * hess[0]
	s.a[0] += first
	*(*[outerWords]float64)(k.rows[outerWords*k.n:]) = [outerWords]float64{
		row.x, row.y, row.z, 1, row.g[0], row.g[1], row.g[2], slope[0], slope[1], slope[2],
		first, weight * hess[1], weight * hess[2], weight * hess[4], weight * hess[5], weight * hess[8],
	}
	if k.n++; k.n == outerRows {
		k.flush(s)
	}
}

// flush adds the rows that wait.
func (k *outerSums) flush(s *sums) {
	if k.n > 0 {
		k.load(s)
		outerSurfaceAVX512(&k.sums[0][0], &k.rows[0], &surfaceOrder[0], k.n)
		k.store(s)
		k.n = 0
	}
}

// addRank adds factor vv' to the upper triangle of s.a.
func (k *outerSums) addRank(s *sums, v []float64, factor float64) {
	if k.lanes < 8 {
		dense.AddOuterProduct(s.a, v, factor)
		return
	}
	k.room()
	s.a[0] += v[0] * factor * v[0]
	to := k.rows[rankWords*k.n:]
	copy(to[:9], v)
	to[9] = factor
	if k.n++; k.n == outerRows {
		k.flushRank(s)
	}
}

// flushRank adds the products that wait.
func (k *outerSums) flushRank(s *sums) {
	if k.n > 0 {
		k.load(s)
		rankSurfaceAVX512(&k.sums[0][0], &k.rows[0], k.n)
		k.store(s)
		k.n = 0
	}
}

// take makes room for n rows that are written from outside.
func (k *outerSums) take(n int) {
	k.room()
	k.n = n
}

// sum adds the rows that were taken.
func (k *outerSums) sum(s *sums) {
	n := k.n
	k.n = 0
	if k.lanes == 8 {
		for i := range n {
			s.a[0] += k.rows[outerWords*i+10]
		}
		k.n = n
		k.flush(s)
		return
	}
	for i := range n {
		r := (*[outerWords]float64)(k.rows[outerWords*i:])
		x, y, z := r[0], r[1], r[2]
		row := row3D{x: x, y: y, z: z, g: [3]float64{r[4], r[5], r[6]}}
		hess := [9]float64{r[10], r[11], r[12], r[11], r[13], r[14], r[12], r[14], r[15]}
		k.add(s, &row, &[7]float64{1, x, y, z, x * x, x * y, y * y}, &hess, &[3]float64{r[7], r[8], r[9]}, 1)
	}
}
