package scqm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/rows"
)

// explainedColumns is the number of columns up to which a model keeps the mean of its
// rows.
const explainedColumns = 1 << 16

// explain records the mean of the rows, and the part of their variance that each coordinate explains. It reads
// the rows twice.
func (f *Fit) explain(x Data) {
	if f == nil || x.D > explainedColumns || len(f.Model.Tau) != x.N*f.Model.Latent {
		return
	}
	m := f.Model
	tau := Data{N: x.N, D: m.Latent, X: m.Tau, Weights: x.Weights}
	if slices.Contains(x.Weights, 0) { // rows that may be of any size
		counted := countedRows(x)
		x, tau = x.Select(counted), tau.Select(counted)
	}
	mean, centre := rows.Mean(x), rows.Mean(tau)
	unit := rows.WorkingUnit(x) // squares of large numbers overflow
	total := totalVariance(x, mean, unit)
	explained := columnVariances(tau, centre, unit)
	for j := range explained {
		explained[j] /= total
	}
	if !(total > 0) || !finite(mean) || !finite(explained) {
		return
	}
	m.Meta.Mean, m.Meta.Explained = mean, explained
}

// countedRows lists the rows of positive weight.
func countedRows(x Data) []int {
	var list []int
	for i := range x.N {
		if x.Weight(i) > 0 {
			list = append(list, i)
		}
	}
	return list
}

func finite(v []float64) bool { return !math.IsInf(floats.Sum(v), 0) && !floats.HasNaN(v) }

// totalVariance returns the sum of the variances of the columns, see [columnVariances].
func totalVariance(x Data, mean []float64, unit float64) float64 {
	if x.Missing || unit != 1 {
		return floats.Sum(columnVariances(x, mean, unit))
	}
	return spread(x, mean)
}

// columnVariances returns the weighted variances of the columns, over unit^2, of the entries that are not
// missing.
func columnVariances(x Data, mean []float64, unit float64) []float64 {
	out, sum, far := make([]float64, x.D), make([]float64, x.D), make([]float64, x.D)
	for i := range x.N {
		w := x.Weight(i)
		floats.SubTo(far, x.Row(i), mean)
		if unit != 1 {
			floats.Scale(1/unit, far)
		}
		for j, v := range far {
			if v == v {
				out[j] += w * v * v
				sum[j] += w
			}
		}
	}
	for j, s := range sum {
		if s > 0 {
			out[j] /= s
		}
	}
	return out
}
