package scqm

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// patches returns rows like patches of 3 x 3 pixels: a level and an edge, strong in few
// of them, so that residuals are of very different sizes. Columns are standardised.
func patches(n int, seed uint64) Data {
	const side = 3
	rng := rand.New(rand.NewPCG(seed, 9))
	x := Data{N: n, D: side * side, X: make([]float64, n*side*side)}
	for i := range n {
		level, contrast := rng.NormFloat64(), math.Exp(1.5*rng.NormFloat64()-2.5)
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		offset := rng.NormFloat64()
		for k := range x.D {
			across := cos*float64(k/side-1) + sin*float64(k%side-1)
			x.X[i*x.D+k] = level + contrast*(math.Tanh(2*across+offset)+0.3*rng.NormFloat64())
		}
	}
	column := make([]float64, n)
	for k := range x.D {
		for i := range column {
			column[i] = x.X[i*x.D+k]
		}
		mean, deviation := stat.MeanStdDev(column, nil)
		for i := range column {
			x.X[i*x.D+k] = (column[i] - mean) / deviation
		}
	}
	return x
}

// A row that the sheet comes to on the way, and leaves again, begins the finish for
// nothing: the fit goes on with the loss itself. It stalled above.
func TestFitsLeaveKinksBehind(t *testing.T) {
	fit, err := Learn(context.Background(), patches(150, 28), Config{Latent: 2, Curvature: FullCurvature, Loss: losses.L2(), Threads: 1})
	require.NoError(t, err)
	assert.Equal(t, framework.Converged, fit.Run.Status, fit.Run.Message)
	assert.Less(t, fit.Run.Cost, 33.2848) // 33.2850 where it stalled
}

// Of a large system the finish begins near minima of the rounded cost, after few stages.
// After all stages it took 1,084 iterations and ended at 87.1815, a vertex beside.
func TestFinishBeginsBeforeTheKinks(t *testing.T) {
	x := noisyParaboloid(rand.New(rand.NewPCG(3, 77)), 20, 2, 60)
	stage := -1
	fit := learn(t, x, Config{Latent: 2, Loss: losses.L1(), Options: framework.Options{Observers: []func(framework.Record){func(p framework.Record) {
		s := p.State.(*solvers.ContinuationState)
		if s.Finish != nil && stage < 0 {
			stage = s.Stage
		}
	}}}})
	assert.Equal(t, framework.Converged, fit.Run.Status)
	assert.LessOrEqual(t, fit.Run.Cost, 87.1173)
	assert.LessOrEqual(t, stage, 3)
	assert.Less(t, fit.Run.Iterations, 900)
}
