package scqm

import (
	"math"
)

// spread returns the weighted mean squared distance of the rows from c. A missing entry counts with the mean square
// of the other entries of its row.
func spread(x Data, c []float64) float64 {
	var sum, total float64
	add := func(i int, square float64) {
		w := x.Weight(i)
		sum += w * square
		total += w
	}
	if !x.Missing {
		x.EachSquare(c, add)
		return sum / total
	}
	for i := range x.N {
		add(i, observedSquare(x.Row(i), c))
	}
	return sum / total
}

func observedSquare(row, c []float64) float64 {
	var sum, count float64
	for k, v := range row {
		if !math.IsNaN(v) {
			sum += (v - c[k]) * (v - c[k])
			count++
		}
	}
	return sum * float64(len(row)) / count
}
