package rows

import (
	"math"
	"slices"

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
	var middle float64 // the median distance, of which a step before is as good until the last one
	for step, moved := 0, 0.0; step < medianSteps; step++ {
		for i := range far {
			far[i] = Distance(x.Row(i), centre)
		}
		if moved <= medianPrecision*middle {
			copy(order, far)
			middle = dense.Select(order, x.N/2)
			if middle == 0 || step > 0 && moved <= medianPrecision*middle {
				break // at least half of the rows are there, or the steps have ended
			}
		}
		clear(next)
		var sum float64
		for i, d := range far {
			w := x.Weight(i) / max(d, dense.Negligible*middle)
			for j, v := range x.Row(i) {
				next[j] += w * v
			}
			sum += w
		}
		floats.Scale(1/sum, next)
		moved = Distance(next, centre)
		copy(centre, next)
	}
	return centre
}

// Distance is that of two short vectors.
func Distance(x, y []float64) float64 {
	const least, most = 0x1p-900, 0x1p1000 // within which no square has lost digits
	var sum float64
	for j, v := range x {
		v -= y[j]
		sum += float64(v * v)
	}
	if sum > least && sum < most || sum == 0 && slices.Equal(x, y) {
		return math.Sqrt(sum)
	}
	return floats.Distance(x, y, 2)
}
