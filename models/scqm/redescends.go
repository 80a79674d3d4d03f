package scqm

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// slowGrowth bounds the growth of a loss that redescends: doubling the length of a residual multiplies the loss by at
// most this factor. For norms the factor is 2.
const slowGrowth = 1.9

// leastLength is far above the smallest normal number, next to which rounding changes the growth of any loss.
const leastLength = 1e-290

// redescends reports whether a loss of rows of length D grows more slowly than a norm for residuals as large as the
// extent of the rows. The cost then has a minimum for each subset of rows near one sheet, and a fit needs a robust
// start.
func redescends(l framework.Loss, D int, extent float64) bool {
	r, values := make([]float64, 2*D), make([]float64, 2)
	for k := range D {
		r[k] = max(extent/math.Sqrt(float64(D)), leastLength)
		r[D+k] = 2 * r[k]
	}
	return l.Evaluate(values, nil, r, D) == nil && values[1] < slowGrowth*values[0]
}
