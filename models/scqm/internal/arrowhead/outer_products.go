package arrowhead

import "github.com/scqm/scqm/internal/dense"

// outerProducts are outer products of vectors of rows with themselves or with others, which are added
// to sums for a batch of rows at once: kernels take each sum from memory once for many rows, with the
// bits of one row after the other.
type outerProducts struct {
	n           int
	left, right []float64 // n x length of each
}

// addWeighted puts factor x x' by.
func (o *outerProducts) addWeighted(x []float64, factor float64) {
	for _, v := range x {
		o.left = append(o.left, factor*v)
	}
	o.right = append(o.right, x...)
	o.n++
}

// addMoments puts the products of the entries on and above the diagonal of weight h h' with c by.
func (o *outerProducts) addMoments(h, c []float64, weight float64) {
	for i, v := range h {
		for _, u := range h[i:] {
			o.left = append(o.left, weight*v*u)
		}
	}
	o.right = append(o.right, c...)
	o.n++
}

// squaresTo adds what was put by to the upper triangle of sums, cols x cols, and forgets it.
func (o *outerProducts) squaresTo(sums []float64, cols int) {
	dense.AddWeightedSquare(sums, o.left, o.right, o.n, cols)
	o.clear()
}

// productsTo adds what was put by to sums, rows x cols, and forgets it.
func (o *outerProducts) productsTo(sums []float64, rows, cols int) {
	dense.AddProduct(sums, o.left, o.right, o.n, rows, cols)
	o.clear()
}

func (o *outerProducts) clear() { o.n, o.left, o.right = 0, o.left[:0], o.right[:0] }
