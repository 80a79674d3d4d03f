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
		distances(far, x, centre)
		if moved <= medianPrecision*middle {
			copy(order, far)
			middle = dense.Select(order, x.N/2)
			if middle == 0 || step > 0 && moved <= medianPrecision*middle {
				break // at least half of the rows are there, or the steps have ended
			}
		}
		weightedMean(next, x, far, dense.Negligible*middle)
		moved = Distance(next, centre)
		copy(centre, next)
	}
	return centre
}

// distances writes those of the rows from a point.
func distances(far []float64, x Data, centre []float64) {
	if x.D != 2 {
		for i := range far {
			far[i] = Distance(x.Row(i), centre)
		}
		return
	}
	a, b := centre[0], centre[1]
	for i := range far {
		u, v := x.X[2*i]-a, x.X[2*i+1]-b
		sum := float64(u*u) + float64(v*v)
		if sum > leastSquare && sum < mostSquare {
			far[i] = math.Sqrt(sum)
			continue
		}
		far[i] = Distance(x.Row(i), centre)
	}
}

// weightedMean writes the mean of the rows with their weights over their distances, which count as
// at least so much.
func weightedMean(mean []float64, x Data, far []float64, least float64) {
	clear(mean)
	var sum float64
	if x.D == 2 {
		var a, b float64
		for i, d := range far {
			w := x.Weight(i) / max(d, least)
			a += float64(w * x.X[2*i])
			b += float64(w * x.X[2*i+1])
			sum += w
		}
		mean[0], mean[1] = a, b
	} else {
		for i, d := range far {
			w := x.Weight(i) / max(d, least)
			for j, v := range x.Row(i) {
				mean[j] += w * v
			}
			sum += w
		}
	}
	floats.Scale(1/sum, mean)
}

// Squares between these have lost no digits.
const leastSquare, mostSquare = 0x1p-900, 0x1p1000

// Distance is that of two short vectors.
func Distance(x, y []float64) float64 {
	var sum float64
	for j, v := range x {
		v -= y[j]
		sum += float64(v * v)
	}
	if sum > leastSquare && sum < mostSquare || sum == 0 && slices.Equal(x, y) {
		return math.Sqrt(sum)
	}
	return floats.Distance(x, y, 2)
}
