package bench

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/scqm"
)

// MinRows is the least number of rows of a large fit.
const MinRows = 100

const (
	spherePoints     = 300
	sphereNeighbours = 30
	sphereNoise      = 0.06
	sphereRidge      = 10

	sheetColumns = 50
	sheetOutlier = 50 // one row in so many is an outlier
	sheetNoise   = 0.1
)

// digitSets is the one set of digits.
func digitSets(o Options) ([]rowSets, error) {
	x, err := o.Digits()
	if err != nil {
		return nil, err
	}
	return []rowSets{{x}}, nil
}

// sphereSets are the nearest points of some noisy points on the unit sphere.
func sphereSets(o Options) ([]rowSets, error) {
	var sets rowSets
	for seed := range o.Fits {
		sets = append(sets, neighbours(uint64(seed)))
	}
	return []rowSets{sets}, nil
}

// neighbours returns the points nearest to the first of a noisy cloud around
// the unit sphere.
func neighbours(seed uint64) scqm.Data {
	const D = 3
	rng := rand.New(rand.NewPCG(seed, 11))
	cloud := make([][]float64, spherePoints)
	for i := range cloud {
		p := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		floats.Scale(1/floats.Norm(p, 2), p)
		for j := range p {
			p[j] += sphereNoise * rng.NormFloat64()
		}
		cloud[i] = p
	}
	at := cloud[0]
	slices.SortFunc(cloud, func(a, b []float64) int {
		return cmp.Compare(floats.Distance(a, at, 2), floats.Distance(b, at, 2))
	})
	return scqm.Data{N: sphereNeighbours, D: D, X: slices.Concat(cloud[:sphereNeighbours]...)}
}

func sheetSets(o Options) ([]rowSets, error) {
	var list []rowSets
	for _, n := range o.Rows {
		list = append(list, rowSets{noisySheet(n)})
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
