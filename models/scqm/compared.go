package scqm

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
)

// errOutOfTime says that the time limit of a fit has passed before it.
var errOutOfTime = errors.New("scqm: out of time")

// difference returns the mean of a - b with its standard error.
func difference(a, b, weights []float64) (mean, deviation float64) {
	diff := make([]float64, len(a))
	floats.SubTo(diff, a, b)
	w := rows.Shares(weights, len(diff))
	mean = stat.Mean(diff, w)
	for i, v := range diff {
		deviation = math.Hypot(deviation, w[i]*(v-mean))
	}
	return mean, deviation / float64(len(diff))
}

// comparedLimits are those of fits that are only compared.
var comparedLimits = framework.Options{MaxIterations: 100, MinRelativeDecrease: 1e-5}
