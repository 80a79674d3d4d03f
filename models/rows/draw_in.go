package rows

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// normalSpread is the standard deviation of a Gaussian over the median of its distance
// from its centre.
const normalSpread = 1.482602218505602

// DrawnIn returns the rows with every entry clipped to the range of its column:
//
//	min(max(x_ij, m_j - far s_j), m_j + far s_j),
//
// m_j is the median of column j and s_j 1.4826 times the median of |x_ij - m_j|, both with the weights of the rows.
// Columns with s_j = 0, half of whose entries are equal, do not change. Principal components of these rows are robust
// against a few distant entries. No entry may be missing.
//
// Source: J. Raymaekers, P. J. Rousseeuw, Fast robust correlation for high-dimensional
// data, Technometrics 63 (2021), who also treat the entries between.
func DrawnIn(x Data, far float64) Data {
	y := x
	y.X = slices.Clone(x.X)
	values, weights := make([]float64, x.N), make([]float64, x.N)
	middle := func() float64 {
		for i := range weights {
			weights[i] = x.Weight(i)
		}
		stat.SortWeighted(values, weights)
		return stat.Quantile(0.5, stat.Empirical, values, weights)
	}
	for j := range x.D {
		for i := range values {
			values[i] = x.X[i*x.D+j]
		}
		m := middle()
		for i := range values {
			values[i] = math.Abs(x.X[i*x.D+j] - m)
		}
		if s := far * normalSpread * middle(); s > 0 {
			for i := range x.N {
				y.X[i*x.D+j] = min(max(x.X[i*x.D+j], m-s), m+s)
			}
		}
	}
	return y
}
