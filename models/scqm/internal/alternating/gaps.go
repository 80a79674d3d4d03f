package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// gaps holds the missing entries of rows, under the sum of squares. A sweep fills them by f(tau). The squared residual
// of the filled row is then that of its other entries; at other sheets it is at least as large. The moments of the
// filled rows therefore bound the cost from above.
//
// Source: H. A. L. Kiers, Weighted least squares fitting using ordinary least squares algorithms, Psychometrika 62
// (1997).
type gaps struct {
	given  *rows.Data // NaN where entries are missing
	prior  nearest.Prior
	newton *nearest.Observed
	before []float64 // tau of a batch
}

// fill improves tau of row i, x, starting at before, and fills the missing entries of x. It returns the squared
// residual of the other entries plus the prior.
func (s *rowSweep) fill(x []float64, i int, tau, before []float64) float64 {
	g := s.gaps
	given := g.given.Row(i)
	copy(tau, before)
	g.newton.Load(given, g.prior)
	g.newton.Minimize(tau, sweepSteps, sweepPrecision)
	floats.SubTo(s.direct, x, s.centre)
	for k, v := range g.newton.E {
		floats.AddScaled(s.direct, -v-g.newton.Y[k], s.axes[k*s.D:(k+1)*s.D])
	}
	for j, v := range given {
		if v != v {
			x[j] -= s.direct[j]
			s.direct[j] = 0
		}
	}
	return floats.Dot(s.direct, s.direct) + g.prior.Value(tau)
}
