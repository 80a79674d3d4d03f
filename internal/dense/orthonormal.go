package dense

import "gonum.org/v1/gonum/floats"

// CompleteRows extends the first rows of a, have orthonormal rows of length D, to all rows. Each new
// row is the coordinate axis furthest from the span of the earlier rows, orthogonalised.
func CompleteRows(a []float64, have, D int) {
	k := len(a) / D
	left := make([]float64, D) // squared distance of each axis from the rows so far
	for j := range left {
		left[j] = 1
		for i := range have {
			left[j] -= float64(a[i*D+j] * a[i*D+j])
		}
	}
	for i := have; i < k; i++ {
		row := a[i*D : (i+1)*D]
		clear(row)
		row[floats.MaxIdx(left)] = 1
		OrthogonalizeRow(a, i, D)
		for j, v := range row {
			left[j] -= float64(v * v)
		}
	}
}

// Independent is the distance from the span of other vectors below which a unit vector counts as dependent on them.
const Independent = 1e-10

// OrthonormalizeRows makes the rows of a, of length D, orthonormal, in order. It returns
// false if a row depends on earlier ones.
func OrthonormalizeRows(a []float64, D int) bool {
	ok := true
	for i := range len(a) / D {
		ok = OrthogonalizeRow(a, i, D) && ok
	}
	return ok
}

// OrthogonalizeRow makes row i a unit vector orthogonal to the earlier rows, and returns false if it depends on them.
// It orthogonalises twice, which suffices (Giraud, Langou and Rozloznik 2005).
func OrthogonalizeRow(a []float64, i, D int) bool {
	row := a[i*D : (i+1)*D]
	norm := floats.Norm(row, 2)
	ok := norm > 0
	for range 2 {
		floats.Scale(1/norm, row)
		for j := range i {
			other := a[j*D : (j+1)*D]
			floats.AddScaled(row, -floats.Dot(row, other), other)
		}
		norm = floats.Norm(row, 2)
		ok = ok && norm > Independent
	}
	floats.Scale(1/norm, row)
	return ok
}
