package dense

import "gonum.org/v1/gonum/floats"

// CompleteRows makes all rows of a, of length D, orthonormal, given that the
// first have are: each further row is the coordinate axis furthest from the
// rows before it, orthogonalised.
func CompleteRows(a []float64, have, D int) {
	k := len(a) / D
	left := make([]float64, D) // squared distance of each axis from the rows so far
	for j := range left {
		left[j] = 1
		for i := range have {
			left[j] -= a[i*D+j] * a[i*D+j]
		}
	}
	for i := have; i < k; i++ {
		row := a[i*D : (i+1)*D]
		clear(row)
		row[floats.MaxIdx(left)] = 1
		OrthogonalizeRow(a, i, D)
		for j, v := range row {
			left[j] -= v * v
		}
	}
}

// OrthonormalizeRows makes independent rows orthonormal, in order.
func OrthonormalizeRows(a []float64, D int) {
	for i := range len(a) / D {
		OrthogonalizeRow(a, i, D)
	}
}

// OrthogonalizeRow makes row i a unit vector orthogonal to those before it.
// Twice is enough (Giraud, Langou and Rozloznik 2005).
func OrthogonalizeRow(a []float64, i, D int) {
	row := a[i*D : (i+1)*D]
	for range 2 {
		floats.Scale(1/floats.Norm(row, 2), row)
		for j := range i {
			other := a[j*D : (j+1)*D]
			floats.AddScaled(row, -floats.Dot(row, other), other)
		}
	}
	floats.Scale(1/floats.Norm(row, 2), row)
}
