package scqm

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// Fits from graphs end where those from principal components do, in fewer iterations.
func TestGraphsAreNearTheEnd(t *testing.T) {
	for _, name := range []string{"squared_l2", "huber", "mahalanobis"} {
		c := Config{Latent: 2, Loss: named(t, name, 3), Ridge: 10, Threads: 1}
		var w smallFits
		graphs, others := 0, 0
		for i, x := range neighbourhoods(20) {
			fit, err := w.small(context.Background(), &Many{Config: c}, c, x)
			require.NoError(t, err)
			require.NotNil(t, fit)
			require.Len(t, w.fitters, 2)
			without := smallFits{fitters: w.fitters[1:], columns: w.columns}
			other, err := without.certified(c, x)
			require.NoError(t, err)
			require.NotNil(t, other)
			assert.InEpsilon(t, other.Run.Cost, fit.Run.Cost, 1e-9, "%s, fit %d", name, i)
			graphs += fit.Run.Iterations
			others += other.Run.Iterations
		}
		assert.Less(t, float64(graphs), 0.9*float64(others), "%s: %d and %d iterations", name, graphs, others)
	}
}

// The graph of quadratic functions with slopes at the mean is found to second order in them, in one and in two directions.
func TestGraphOfQuadraticRows(t *testing.T) {
	for _, D := range []int{3, 4} {
		x := Data{N: 60, D: D, X: make([]float64, 60*D)}
		noise := gaussians(5, 2*x.N)
		for i := range x.N {
			row, a, b := x.Row(i), math.Tanh(noise[2*i]), math.Tanh(noise[2*i+1])
			row[0], row[1] = 7+a, b-3
			row[2] = 0.2*a*a - 0.1*a*b + 0.05*b*b + 0.03*a*a*a // which makes slopes of the components
			if D > 3 {
				row[3] = 0.1*b*b - 0.02*b*b*b
			}
		}
		p, at, axes := flatGraph(t, x)
		flat := at.Clone()
		p.MaxPenalty = math.Inf(1)
		require.True(t, newGraph(p.Shape()).start(p, at, axes, 1e-9))
		assert.LessOrEqual(t, p.Blocks()[BlockQ].Violation(at[BlockQ]), 1e-14)
		_, _, err := p.InnerStep(at, at[BlockTau])
		require.NoError(t, err)
		p.SolveTheta(flat)
		_, _, err = p.InnerStep(flat, flat[BlockTau])
		require.NoError(t, err)
		graph, err := p.Evaluate(nil, at)
		require.NoError(t, err)
		other, err := p.Evaluate(nil, flat)
		require.NoError(t, err)
		assert.Less(t, graph, other/4, "D = %d", D)
	}
}

// Rows that do not determine a graph, and sheets that bend by more than their extent, leave the start as it is.
func TestNoGraph(t *testing.T) {
	bowl := Data{N: 40, D: 3, X: gaussians(3, 120)}
	for i := range bowl.N {
		row := bowl.Row(i)
		row[2] = 0.5*(row[0]*row[0]+row[1]*row[1]) + 0.01*row[2]
	}
	line := Data{N: 20, D: 3, X: make([]float64, 60)}
	for i := range line.N {
		line.X[3*i] = float64(i)
	}
	for _, x := range []Data{bowl, line} {
		p, at, axes := flatGraph(t, x)
		p.MaxPenalty = math.Inf(1)
		before := at.Clone()
		assert.False(t, newGraph(p.Shape()).start(p, at, axes, 0))
		assert.Equal(t, before, at)
	}
}

// flatGraph returns a problem with s = D - 2 under squared_l2, its flat start and the axes of that.
func flatGraph(t *testing.T, x Data) (*Problem, framework.Point, []float64) {
	t.Helper()
	p, err := NewProblem(context.Background(), x, losses.SquaredL2(), 2, x.D-2, 1)
	require.NoError(t, err)
	k, at := newDirections(x.D, p.Shape().M), framework.NewPoint(p.Blocks())
	_, err = k.begin(p, at)
	require.NoError(t, err)
	return p, at, slices.Clone(k.axes)
}

// Finishes that crawl under l2 come to an end in the memory of a Fitter, and are tried from there, so that they
// end no higher than by Learn.
func TestCrawlingFinishesEnd(t *testing.T) {
	c := Config{Latent: 2, Loss: losses.L2(), Ridge: 10, Threads: 1}
	var w smallFits
	for _, i := range []int{187, 1057, 1183} {
		x := sphereNeighbours(uint64(100000+i), 300, 30, 10*i%300, 0.06)
		fit, err := w.small(context.Background(), &Many{Config: c}, c, x)
		require.NoError(t, err)
		require.NotNil(t, fit, "set %d", i)
		assert.Less(t, fit.Run.Iterations, 200, "set %d", i)
		assert.LessOrEqual(t, maxOf(fit.Run.Stationarity), 1e-8, "set %d", i)
		assert.LessOrEqual(t, fit.Run.Cost, learn(t, x, c).Run.Cost*(1+1e-7), "set %d", i)
	}
}
