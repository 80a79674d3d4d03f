package rows

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// medianSteps bounds the steps to a geometric median.
const medianSteps = 100

// medianPrecision is the length of the last step to it, in units of the
// median distance from it.
const medianPrecision = 1e-6

// GeometricMedian is the point c for which sum_i w_i |x_i - c| is least, a centre
// that outliers do not move far. Each step of Weiszfeld's algorithm is the mean of
// the rows with the weights w_i / |x_i - c|.
//
// Source: E. Weiszfeld, Sur le point pour lequel la somme des distances de n points
// donnes est minimum, Tohoku Mathematical Journal 43 (1937).
func GeometricMedian(x Data) []float64 {
	centre, next := Mean(x), make([]float64, x.D)
	far, order := make([]float64, x.N), make([]float64, x.N)
	for range medianSteps {
		for i := range far {
			far[i] = floats.Distance(x.Row(i), centre, 2)
		}
		copy(order, far)
		middle := dense.Select(order, x.N/2)
		if middle == 0 {
			break // at least half of the rows are there
		}
		clear(next)
		var sum float64
		for i, d := range far {
			w := x.Weight(i) / max(d, dense.Negligible*middle)
			floats.AddScaled(next, w, x.Row(i))
			sum += w
		}
		floats.Scale(1/sum, next)
		moved := floats.Distance(next, centre, 2)
		copy(centre, next)
		if moved <= medianPrecision*middle {
			break
		}
	}
	return centre
}
