package rows

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Mean returns the weighted mean. It averages differences from the first row, which is
// accurate for data with a large common offset.
func Mean(x Data) []float64 {
	if x.Missing {
		return observedMean(x)
	}
	mean := make([]float64, x.D)
	var sum float64
	for i := range x.N {
		sum += x.Weight(i)
	}
	first := x.Row(0)
	var shares [tileRows]float64
	for from := 0; from < x.N; from += tileRows {
		n := min(tileRows, x.N-from)
		for i := range n {
			shares[i] = x.Weight(from+i) / sum
		}
		dense.AddCentredProduct(mean, shares[:n], x.X[from*x.D:(from+n)*x.D], first, n, 1, x.D)
	}
	floats.Add(mean, first)
	return mean
}

// observedMean is Mean over the entries that are not missing. A column with only missing
// entries has the mean 0.
func observedMean(x Data) []float64 {
	first, mean, total := firstObserved(x), make([]float64, x.D), make([]float64, x.D)
	for i := range x.N {
		for j, v := range x.Row(i) {
			if v == v {
				total[j] += x.Weight(i)
			}
		}
	}
	for i := range x.N {
		for j, v := range x.Row(i) {
			if v == v && total[j] > 0 {
				mean[j] += x.Weight(i) / total[j] * (v - first[j])
			}
		}
	}
	for j, v := range first {
		if v == v {
			mean[j] += v
		}
	}
	return mean
}

// LengthScale returns the root mean squared distance of the rows from their mean, or 1 if
// that is 0.
func LengthScale(x Data) float64 {
	mean := Mean(x)
	var sum, total float64
	x.EachSquare(mean, func(i int, square float64) {
		w := x.Weight(i)
		total += w
		sum += w * square
	})
	h := math.Sqrt(sum / total)
	if !(h > 0) || math.IsInf(h, 0) {
		return 1
	}
	return h
}
