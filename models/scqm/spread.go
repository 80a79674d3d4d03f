package scqm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/rows"
)

// spread returns the weighted mean squared distance of the rows from c, in which
// missing entries are as far as others of their row.
func spread(x Data, c []float64) float64 {
	var sum, total float64
	for i := range x.N {
		length, w := floats.Distance(x.Row(i), c, 2), x.Weight(i)
		square := length * length
		if x.Missing && rows.Incomplete(x.Row(i)) {
			square = observedSquare(x.Row(i), c)
		}
		sum += w * square
		total += w
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
