package arrowhead

import "github.com/scqm/scqm/internal/dense"

// outerProducts accumulates outer products xx' or xy' of the rows of a batch and adds them to sums at once, so that
// the kernels load each sum once for many rows. The result is bit-identical to adding row by row.
type outerProducts struct {
	n           int
	left, right []float64 // n x length of each
}

// addWeighted stores the product factor x x' of one row.
func (o *outerProducts) addWeighted(x []float64, factor float64) {
	for _, v := range x {
		o.left = append(o.left, factor*v)
	}
	o.right = append(o.right, x...)
	o.n++
}

// addMoments stores the product (weight hh') c', with the upper triangle of weight hh' as left and c as right factor.
func (o *outerProducts) addMoments(h, c []float64, weight float64) {
	for i, v := range h {
		for _, u := range h[i:] {
			o.left = append(o.left, weight*v*u)
		}
	}
	o.right = append(o.right, c...)
	o.n++
}

// squaresTo adds the stored products to the upper triangle of sums, cols x cols, and clears them.
func (o *outerProducts) squaresTo(sums []float64, cols int) {
	dense.AddWeightedSquare(sums, o.left, o.right, o.n, cols)
	o.clear()
}

// productsTo adds the stored products to sums, rows x cols, and clears them.
func (o *outerProducts) productsTo(sums []float64, rows, cols int) {
	dense.AddProduct(sums, o.left, o.right, o.n, rows, cols)
	o.clear()
}

func (o *outerProducts) clear() { o.n, o.left, o.right = 0, o.left[:0], o.right[:0] }
