package scqm

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// The run in the span of the rows is the run in all of R^D.
func TestCompressionLosesNothing(t *testing.T) {
	x := digits(t, 60, "4", "9")
	for _, name := range radialLosses {
		for _, weighted := range []bool{false, true} {
			x.Weights = nil
			if weighted {
				x.Weights = make([]float64, x.N)
				for i := range x.Weights {
					x.Weights[i] = float64(i % 3)
				}
			}
			p, start := begin(t, x, named(t, name, x.D), 2, 3, 1)
			p.Lambda = 0.01
			solver := solvers.Alternating{}
			require.True(t, p.compressible(solver))
			plain := solvers.Alternating{Plain: true} // extrapolation amplifies rounding errors
			o := framework.Options{MaxIterations: 20, MinRelativeDecrease: -1, Tolerance: -1}
			whole, err := framework.Solve(context.Background(), p, start, plain, o)
			require.NoError(t, err)
			small, err := p.minimize(context.Background(), start, plain, o)
			require.NoError(t, err)
			require.Len(t, small.History, len(whole.History))
			// Weights 1/r of rows that are met amplify rounding: as they do that of the start.
			shaken, err := framework.Solve(context.Background(), p, rounded(start), plain, o)
			require.NoError(t, err)
			require.Len(t, shaken.History, len(whole.History))
			var amplified float64
			for i, r := range whole.History {
				amplified = max(amplified, math.Abs(r.Cost-shaken.History[i].Cost))
				assert.InDelta(t, r.Cost, small.History[i].Cost, 1e-13*r.Cost+10*amplified, "%s, iteration %d", name, i)
				assert.Less(t, 10*amplified, 1e-8*r.Cost, "nothing is compared")
			}
			faster, err := p.minimize(context.Background(), start, solver, o)
			require.NoError(t, err)
			whole, err = framework.Solve(context.Background(), p, start, solver, o)
			require.NoError(t, err)
			assert.InEpsilon(t, whole.Cost, faster.Cost, 1e-9)
			assert.True(t, floats.EqualApprox(whole.Point[BlockQ], faster.Point[BlockQ], 1e-6))
			assert.True(t, floats.EqualApprox(whole.Point[BlockC], faster.Point[BlockC], 1e-6))
			assert.Less(t, p.Blocks()[BlockQ].Violation(faster.Point[BlockQ]), 1e-12)
			assert.InDeltaSlice(t, whole.Stationarity, faster.Stationarity, 1e-5)
		}
	}
}

// rounded is a point whose numbers are off by about what rounding costs.
func rounded(x framework.Point) framework.Point {
	y := make(framework.Point, len(x))
	for b, block := range x {
		for i, g := range gaussians(uint64(b+1), len(block)) {
			y[b] = append(y[b], block[i]*(1+4e-16*g))
		}
	}
	return y
}

func TestCompressionOnlyWhereItLosesNothing(t *testing.T) {
	wide := Data{N: 20, D: 60, X: gaussians(1, 1200)}
	p, _ := begin(t, wide, losses.L2(), 2, 3, 1)
	assert.True(t, p.compressible(solvers.Alternating{}))
	assert.False(t, p.compressible(solvers.RGD{}), "not known to be equivariant")
	p, _ = begin(t, wide, losses.L1(), 2, 3, 1)
	assert.False(t, p.compressible(solvers.Alternating{}), "not a function of |r|")
	p, _ = begin(t, Data{N: 5, D: 60, X: wide.X[:300]}, losses.L2(), 2, 3, 1)
	assert.False(t, p.compressible(solvers.Alternating{}), "the rows span less than Q")
	p, _ = begin(t, Data{N: 60, D: 20, X: wide.X}, losses.L2(), 2, 3, 1)
	assert.False(t, p.compressible(solvers.Alternating{}), "nothing to gain")
}

// Rows that repeat span less than there are of them.
func TestCompressionOfRepeatedRows(t *testing.T) {
	x := Data{N: 20, D: 60, X: gaussians(1, 1200)}
	copy(x.X[600:], x.X[:600])
	fit := learn(t, x, Config{Latent: 2, Loss: losses.SquaredL2(), Solver: solvers.Alternating{}, Options: framework.Options{MaxIterations: 30}})
	require.NoError(t, fit.Model.Validate())
	assert.Len(t, fit.Model.C, 60)
	for i := range 10 {
		assert.InDeltaSlice(t, fit.Model.Tau[2*i:2*i+2], fit.Model.Tau[20+2*i:22+2*i], 1e-9)
	}
}
