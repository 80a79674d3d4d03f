package rows

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// medianSteps bounds the steps to a geometric median.
const medianSteps = 100

// medianPrecision is the step length at which the iteration ends, in units of the median distance from the point.
const medianPrecision = 1e-6

// GeometricMedian is the point c for which sum_i w_i |x_i - c| is least, a centre that is robust against outliers.
// Each step of Weiszfeld's algorithm is the mean of the rows with the weights w_i / |x_i - c|. In the plane, steps
// are Newton steps, halved until they lower the sum.
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
		if x.D == 2 {
			planeStep(next, x, centre, far, dense.Negligible*middle)
		} else {
			weightedMean(next, x, far, dense.Negligible*middle)
		}
		moved = Distance(next, centre)
		copy(centre, next)
	}
	return centre
}

// distances writes the distances of the rows from a point.
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

// weightedMean writes the mean of the rows, with their weights divided by their distances
// far. Distances below least count as least.
func weightedMean(mean []float64, x Data, far []float64, least float64) {
	clear(mean)
	var sum float64
	for i, d := range far {
		w := x.Weight(i) / max(d, least)
		for j, v := range x.Row(i) {
			mean[j] += w * v
		}
		sum += w
	}
	floats.Scale(1/sum, mean)
}

// planeStep takes a step in the plane from a centre, given the distances of the rows, which count as at least least.
// With u_i the directions to the rows, it goes along the Newton step H⁻¹g, halved up to leastHalf times, with
//
//	g = sum_i w_i u_i,   H = sum_i w_i (I - u_i u_i') / |x_i - c|,
//
// or, if the rows are on a line, to the mean with the weights of H.
func planeStep(next []float64, x Data, centre, far []float64, least float64) {
	var g0, g1, h00, h01, h11, sum, size float64
	for i, d := range far {
		weight := x.Weight(i)
		sum += weight * d
		d = max(d, least)
		w, u, v := weight/d, (x.X[2*i]-centre[0])/d, (x.X[2*i+1]-centre[1])/d
		g0, g1, size = g0+weight*u, g1+weight*v, size+w
		h00, h01, h11 = h00+w*(1-u*u), h01-w*u*v, h11+w*(1-v*v)
	}
	determinant := h00*h11 - h01*h01
	if !(determinant > dense.Negligible*size*size) {
		next[0], next[1] = centre[0]+g0/size, centre[1]+g1/size
		return
	}
	du, dv := (h11*g0-h01*g1)/determinant, (h00*g1-h01*g0)/determinant
	for t := 1.0; ; t /= 2 {
		next[0], next[1] = centre[0]+t*du, centre[1]+t*dv
		if t < leastHalf || summedDistance(x, next) <= sum*(1+0x1p-50) {
			return
		}
	}
}

// leastHalf bounds the halvings of a step.
const leastHalf = 0x1p-20

// summedDistance is the weighted sum of the distances of the rows from a point of the plane.
func summedDistance(x Data, c []float64) (sum float64) {
	for i := range x.N {
		u, v := x.X[2*i]-c[0], x.X[2*i+1]-c[1]
		sum += x.Weight(i) * math.Sqrt(u*u+v*v)
	}
	return sum
}

// leastSquare and mostSquare bound the squares that are accurate.
const leastSquare, mostSquare = 0x1p-900, 0x1p1000

// Distance returns the Euclidean distance of two short vectors.
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
