package streaming

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
)

// A sheet far more curved than the rows is refuted, as a step would change it, and that of the start is not.
func TestStreamsAreRefutedWhereCurvatureGrows(t *testing.T) {
	x := bentRows(5, 1100, 5)
	loss := problemtest.Named(t, "huber", x.D)
	p := New(t.Context(), &engine{x, loss}, loss, 1, 1)
	starts, err := p.NewStarts()
	require.NoError(t, err)
	starts.Begin(p.shape.S, 1e-3, nil)
	at, err := starts.Point()
	require.NoError(t, err)
	why, err := p.Refute(at)
	require.NoError(t, err)
	assert.Empty(t, why)
	floats.Scale(1e6, at[objective.BlockTheta])
	why, err = p.Refute(at)
	require.NoError(t, err)
	assert.Contains(t, why, "the curvature still grows")
}
