package mean

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/solvers"
)

// inUnits returns rows with column k in units of its own.
func inUnits(x rows.Data, units []float64) rows.Data {
	y := rows.Data{N: x.N, D: x.D, X: make([]float64, len(x.X)), Weights: x.Weights}
	for i := range y.X {
		y.X[i] = x.X[i] * units[i%x.D]
	}
	return y
}

// Under a loss that is a sum over entries, columns in unlike units have the mean
// that they have in like ones.
func TestMeanOfColumnsInUnlikeUnits(t *testing.T) {
	x := sampleRows(60, 3)
	for _, p := range []float64{1, 1.2, 1.5, 2, 3} {
		loss, err := losses.Lp(p)
		require.NoError(t, err)
		want, err := Of(context.Background(), x, Config{Loss: loss})
		require.NoError(t, err)
		for _, units := range [][]float64{{1, 1e4, 1e-4}, {1, 1e6, 1e-6}, {1e-30, 1, 1e30}} {
			got, err := Of(context.Background(), inUnits(x, units), Config{Loss: loss})
			require.NoError(t, err)
			assert.Equal(t, framework.Converged, got.Run.Status, "p = %v, units %v: %s", p, units, got.Run.Message)
			for k, u := range units {
				assert.InDelta(t, want.C[k], got.C[k]/u, 1e-7, "p = %v, units %v", p, units)
			}
			assert.InEpsilon(t, got.Objective, got.Run.Cost, 1e-15)
		}
	}
}

// A column that is off its mean shows in the stationarity, be its numbers ever so
// small beside the others.
func TestStationarityOfColumnsInUnlikeUnits(t *testing.T) {
	loss, err := losses.Lp(1.5)
	require.NoError(t, err)
	x := inUnits(sampleRows(60, 3), []float64{1, 1e6, 1e-6})
	m, err := Of(context.Background(), x, Config{Loss: loss})
	require.NoError(t, err)
	p, err := NewProblem(context.Background(), x, loss, 1)
	require.NoError(t, err)
	s := []float64{1}
	require.NoError(t, p.Stationarity(s, framework.Point{m.C}))
	assert.Less(t, s[0], 1e-7)
	off := framework.Point{append([]float64(nil), m.C...)}
	off[0][2] += 1e-7 // a tenth of a standard deviation
	require.NoError(t, p.Stationarity(s, off))
	assert.Greater(t, s[0], 0.01)
}

// A column that fails to converge is named, and the limit of time is for all.
func TestMeanOfColumnsEndsAsOneRun(t *testing.T) {
	x := sampleRows(60, 3)
	loss, err := losses.Lp(3)
	require.NoError(t, err)
	m, err := Of(context.Background(), x, Config{Loss: loss, Options: framework.Options{MaxIterations: 1}})
	require.NoError(t, err)
	assert.Equal(t, framework.MaxIterations, m.Run.Status)
	assert.Contains(t, m.Run.Message, "column 1: ")
	m, err = Of(context.Background(), x, Config{Loss: loss, Options: framework.Options{TimeLimit: time.Nanosecond}})
	require.NoError(t, err)
	assert.Equal(t, framework.TimeLimit, m.Run.Status)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m, err = Of(ctx, x, Config{Loss: loss})
	require.NoError(t, err)
	assert.Equal(t, framework.Cancelled, m.Run.Status)
}

// With a checkpoint all columns are one run.
func TestMeanWithCheckpointIsOneRun(t *testing.T) {
	x := sampleRows(60, 3)
	o := framework.Options{Checkpoint: &framework.Checkpoint{Fingerprint: "rows"}}
	m, err := Of(context.Background(), x, Config{Loss: losses.L1(), Solver: solvers.Continuation{Inner: solvers.LBFGS{}}, Options: o})
	require.NoError(t, err)
	want, err := Of(context.Background(), x, Config{Loss: losses.L1()})
	require.NoError(t, err)
	assert.InEpsilon(t, want.Objective, m.Objective, 1e-6)
}
