package scqm

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// slowGrowth is the factor by which the loss of a residual of twice the length is larger, at most, where it
// redescends; for norms it is 2.
const slowGrowth = 1.9

// redescends reports whether a loss of rows of length D grows less than a norm for rows as far apart as the
// extent. It then has minima for the rows of every sheet that is there, and a fit needs a robust start.
func redescends(l framework.Loss, D int, extent float64) bool {
	r, values := make([]float64, 2*D), make([]float64, 2)
	for k := range D {
		r[k] = extent / math.Sqrt(float64(D))
		r[D+k] = 2 * r[k]
	}
	return l.Evaluate(values, nil, r, D) == nil && values[1] < slowGrowth*values[0]
}
