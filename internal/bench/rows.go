package bench

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/scqm"
)

// MinRows is the least number of rows of a large fit.
const MinRows = 100

const (
	sheetColumns = 50
	sheetOutlier = 50 // one row in so many is an outlier
	sheetNoise   = 0.1
)

// digits returns the table of digits as the only data set of its regime.
func digits(o Options) ([]scqm.Data, error) {
	x, err := o.Digits()
	return []scqm.Data{x}, err
}

func sheets(o Options) ([]scqm.Data, error) {
	var list []scqm.Data
	for _, n := range o.Rows {
		list = append(list, noisySheet(n))
	}
	return list, nil
}

// noisySheet returns rows near a quadratic surface of two dimensions that curves
// into three more, with outliers far from it.
func noisySheet(n int) scqm.Data {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	axes := make([][]float64, 5)
	for k := range axes {
		axes[k] = make([]float64, sheetColumns)
		for j := range axes[k] {
			axes[k][j] = rng.NormFloat64() / math.Sqrt(sheetColumns)
		}
	}
	x := scqm.Data{N: n, D: sheetColumns, X: make([]float64, n*sheetColumns)}
	for i := range n {
		row, noise := x.Row(i), sheetNoise
		if i%sheetOutlier == 0 {
			noise = 1
		}
		s, t := rng.NormFloat64(), rng.NormFloat64()
		for k, v := range []float64{3 * s, 3 * t, s*s - 1, s * t, t*t - 1} {
			floats.AddScaled(row, v, axes[k])
		}
		for j := range row {
			row[j] += noise * rng.NormFloat64()
		}
	}
	return x
}
