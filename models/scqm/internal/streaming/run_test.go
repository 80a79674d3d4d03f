package streaming

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// What a run is told to be follows the residuals with every row at its nearest point, in both directions, but a run that was
// refuted stays so.
func TestRunsAreSettledAtNearestPoints(t *testing.T) {
	for name, c := range map[string]struct {
		status        framework.Status
		passes, found float64
		want          framework.Status
	}{
		"converged here and there":        {framework.Converged, 1e-8, 1e-8, framework.Converged},
		"converged, not at the nearest":   {framework.Converged, 1e-8, 1e-5, framework.Stalled},
		"stalled, but not where they lie": {framework.Stalled, 1e-5, 1e-8, framework.Converged},
		"stalled here and there":          {framework.Stalled, 1e-5, 1e-5, framework.Stalled},
		"stalled, refuted":                {framework.Stalled, 1e-8, 1e-8, framework.Stalled},
		"at the limit":                    {framework.MaxIterations, 1e-5, 1e-8, framework.MaxIterations},
	} {
		p := &Problem{}
		r := &Run{
			Result: &framework.Result{Status: c.status, Stationarity: []float64{0, c.passes, 0}, Message: "as it was"},
			Norms:  &Norms{residuals: [objective.NumBlocks]float64{0, c.found, 0, 0}},
		}
		require.NoError(t, p.settle(r, 0), name)
		assert.Equal(t, c.want, r.Result.Status, name)
		assert.Equal(t, c.want == c.status, r.Result.Message == "as it was", name)
	}
}
