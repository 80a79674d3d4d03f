package scqm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/solvers"
)

var radialLosses = []string{"l2", "squared_l2", "huber"}

// digits returns the first n / len(keep) images of each digit, in [0, 1].
func digits(t testing.TB, n int, keep ...string) Data {
	t.Helper()
	m, err := dataset.Read("../../testdata/mnist/images-idx3-ubyte.gz", dataset.ReadOptions{})
	require.NoError(t, err)
	labels, err := dataset.ReadLabels("../../testdata/mnist/labels-idx1-ubyte.gz")
	require.NoError(t, err)
	m, _, err = dataset.Select(m, labels, keep, n/len(keep))
	require.NoError(t, err)
	floats.Scale(1.0/255, m.Data)
	return Data{N: m.Rows, D: m.Cols, X: m.Data}
}

// begin returns a problem with its principal component start.
func begin(t testing.TB, x Data, loss framework.Loss, d, s, threads int) (*Problem, framework.Point) {
	t.Helper()
	p, err := NewProblem(context.Background(), x, loss, d, s, threads)
	require.NoError(t, err)
	start, _, err := p.flatStart()
	require.NoError(t, err)
	return p, start
}

// diagonalForm is r'Mr in the coordinates in which fits minimise it, where M is diagonal.
func diagonalForm(D int) framework.Loss {
	l := &nearest.DiagonalForm{Of: losses.SquaredL2()}
	for k := range D {
		l.Values = append(l.Values, 1/float64(k+1))
	}
	return l
}

func TestOnlyConcaveRadialAndQuadraticLossesSweep(t *testing.T) {
	for _, name := range allLosses {
		p, _ := smallProblem(t, named(t, name, 6), 2, 3, false)
		want := slices.Contains([]string{"l2", "squared_l2", "huber", "welsch"}, name)
		assert.Equal(t, want, len(p.OuterBlocks()) > 0, name)
	}
	p, _ := smallProblem(t, blackBox{Loss: losses.L2()}, 2, 3, false)
	assert.Empty(t, p.OuterBlocks())
	p, _ = smallProblem(t, diagonalForm(6), 2, 3, false)
	assert.NotEmpty(t, p.OuterBlocks())
	for _, name := range byEntry {
		p, err := NewProblem(t.Context(), hide(bowl(1, 20, 6, 0.1), 1, 0.03), named(t, name, 6), 2, 3, 1)
		require.NoError(t, err)
		assert.Equal(t, name == "squared_l2", len(p.OuterBlocks()) > 0, name)
	}
}

// Every sweep lowers the cost twice, and what it settles at is stationary.
func TestSweepsDescend(t *testing.T) {
	x := Data{N: 60, D: 7, X: gaussians(5, 420), Weights: make([]float64, 60)}
	for i := range x.Weights {
		x.Weights[i] = float64(i%3) / 2
		x.X[7*i] *= 4
		x.X[7*i+1] = x.X[7*i]*x.X[7*i]/6 + x.X[7*i+1]/2
	}
	for _, name := range append([]string{"diagonal"}, radialLosses...) {
		for _, shape := range [][2]int{{1, 1}, {2, 3}, {2, 0}, {3, 2}} {
			loss := diagonalForm(7)
			if name != "diagonal" {
				loss = named(t, name, 7)
			}
			p, at := begin(t, x, loss, shape[0], shape[1], 1)
			p.Lambda = 0.3
			next := framework.NewPoint(p.Blocks())
			last := math.Inf(1)
			for range 60 {
				cost, err := p.Sweep(next, at)
				require.NoError(t, err)
				require.LessOrEqual(t, cost, last*(1+1e-12), "%s %v", name, shape)
				now, err := p.Evaluate(nil, next)
				require.NoError(t, err)
				require.LessOrEqual(t, now, cost*(1+1e-12), "%s %v", name, shape)
				at, next, last = next, at, now
			}
			if name == "l2" {
				continue // interpolates some rows, where the cost has kinks
			}
			run, err := framework.Solve(context.Background(), p, at, solvers.Alternating{}, framework.Options{Tolerance: 1e-5})
			require.NoError(t, err)
			assert.Equal(t, framework.Converged, run.Status, "%s %v %s", name, shape, run.Message)
		}
	}
}

// For |r|^2 the majorizer is the cost: at the new tau, c and Theta are optimal for the new Q. For r'Mr only c is.
func TestCoreSolvesForCAndTheta(t *testing.T) {
	for k := range 4 {
		loss, weighted := losses.SquaredL2(), k%2 == 1
		if k > 1 {
			loss = diagonalForm(6)
		}
		p, x := smallProblem(t, loss, 2, 3, weighted)
		p.Lambda = 0.4
		next, grad := framework.NewPoint(p.Blocks()), framework.NewPoint(p.Blocks())
		_, err := p.Sweep(next, x)
		require.NoError(t, err)
		_, err = p.Evaluate(grad, next)
		require.NoError(t, err)
		assert.Less(t, floats.Norm(grad[BlockC], 2), 1e-10)
		if k < 2 {
			assert.Less(t, floats.Norm(grad[BlockTheta], 2), 1e-9)
		}
		assert.Less(t, p.Blocks()[BlockQ].Violation(next[BlockQ]), 1e-14)
	}
}

func TestSweepBitsDoNotDependOnThreads(t *testing.T) {
	x := Data{N: 500, D: 12, X: gaussians(6, 6000)}
	for _, loss := range []framework.Loss{losses.L2(), diagonalForm(12)} {
		sweepOnThreads(t, x, x, loss)
	}
	sweepOnThreads(t, hide(x, 3, 0.04), x, losses.SquaredL2())
}

// sweepOnThreads begins where whole, without missing entries, does.
func sweepOnThreads(t *testing.T, x, whole Data, loss framework.Loss) {
	run := func(threads int) *framework.Result {
		_, start := begin(t, whole, loss, 2, 3, threads)
		p, err := NewProblem(t.Context(), x, loss, 2, 3, threads)
		require.NoError(t, err)
		res, err := framework.Solve(context.Background(), p, start, solvers.Alternating{}, framework.Options{MaxIterations: 40})
		require.NoError(t, err)
		return res
	}
	one, two, five := run(1), run(2), run(5)
	for _, other := range []*framework.Result{two, five} {
		assert.Equal(t, one.Cost, other.Cost)
		assert.True(t, one.Point.Equal(other.Point))
	}
}

func TestSweepsDoNotAllocate(t *testing.T) {
	p, x := begin(t, Data{N: 100, D: 20, X: gaussians(6, 2000)}, losses.L2(), 2, 3, 1)
	next := framework.NewPoint(p.Blocks())
	sweep := func() {
		_, err := p.Sweep(next, x)
		require.NoError(t, err)
	}
	sweep()
	assert.Zero(t, testing.AllocsPerRun(10, sweep))
}

func TestAlternatingIsFreeOfScale(t *testing.T) {
	const unit = 1 << 30
	x := Data{N: 60, D: 5, X: gaussians(8, 300)}
	moved := Data{N: 60, D: 5, X: append([]float64(nil), x.X...)}
	for i := range moved.X {
		moved.X[i] *= unit
	}
	for _, name := range radialLosses[:2] {
		c := Config{Latent: 2, Loss: named(t, name, 5), Ridge: 0.5, Solver: solvers.Alternating{}, Options: framework.Options{MaxIterations: 30}}
		a, b := learn(t, x, c), learn(t, moved, c)
		for i, r := range a.Run.History {
			scale := map[string]float64{"l2": unit, "squared_l2": unit * unit}[name]
			assert.InEpsilon(t, r.Cost*scale, b.Run.History[i].Cost, 1e-9, name)
		}
	}
}

func TestAlternatingOnDegenerateData(t *testing.T) {
	line := make([]float64, 30)
	for i := range 10 {
		line[3*i], line[3*i+1], line[3*i+2] = float64(i), 2*float64(i), -float64(i)
	}
	huge, tiny := gaussians(1, 30), gaussians(1, 30)
	floats.Scale(1e25, huge)
	floats.Scale(1e-25, tiny)
	for name, x := range map[string]Data{
		"one row":  {N: 1, D: 3, X: []float64{1, 2, 3}},
		"two rows": {N: 2, D: 3, X: []float64{1, 2, 3, 4, 5, 6}},
		"wide":     {N: 4, D: 15, X: gaussians(2, 60)},
		"constant": {N: 10, D: 3, X: make([]float64, 30)},
		"line":     {N: 10, D: 3, X: line},
		"1 column": {N: 30, D: 1, X: gaussians(2, 30)},
		"1e25":     {N: 10, D: 3, X: huge},
		"1e-25":    {N: 10, D: 3, X: tiny},
	} {
		for _, loss := range radialLosses {
			for d := range min(x.D, 3) {
				label := fmt.Sprintf("%s, %s, d = %d", name, loss, d+1)
				c := Config{Latent: d + 1, Loss: named(t, loss, x.D), Solver: solvers.Alternating{}, Options: framework.Options{MaxIterations: 60}}
				fit, err := Learn(context.Background(), x, c)
				require.NoError(t, err, label)
				require.NoError(t, fit.Model.Validate(), label)
				assert.False(t, math.IsNaN(fit.Model.Meta.Objective) || math.IsInf(fit.Model.Meta.Objective, 0), label)
			}
		}
	}
}

// The linear model with squared_l2 is principal component analysis, also from
// a start that is not.
func TestAlternatingLinearSquaredIsPCA(t *testing.T) {
	x := Data{N: 60, D: 8, X: gaussians(2, 480)}
	for i := range x.X {
		x.X[i] *= float64(i%8 + 1)
	}
	p, start := begin(t, x, losses.SquaredL2(), 3, 0, 1)
	best, err := p.Evaluate(nil, start)
	require.NoError(t, err)
	copy(start[BlockQ], gaussians(3, 24))
	require.NoError(t, p.Blocks()[BlockQ].Restore(start[BlockQ]))
	clear(start[BlockC])
	run, err := framework.Solve(context.Background(), p, start, solvers.Alternating{}, framework.Options{MinRelativeDecrease: 1e-15, Tolerance: 1e-9})
	require.NoError(t, err)
	assert.InEpsilon(t, best, run.Cost, 1e-12)
	assert.Greater(t, run.History[0].Cost, 1.5*best)
}

func TestAlternatingWithMoreCurvatureThanQ(t *testing.T) {
	x := digits(t, 60, "4", "9")
	c := Config{Latent: 2, Curvature: 3, Loss: losses.L2(), Solver: solvers.Alternating{}, Options: framework.Options{MaxIterations: 40}}
	three := learn(t, x, c)
	c.Curvature = 20
	twenty := learn(t, x, c)
	assert.Equal(t, three.Model.Meta.Objective, twenty.Model.Meta.Objective)
	assert.Equal(t, three.Run.Counts, twenty.Run.Counts)
	assert.Equal(t, 3, twenty.Model.Curvature)
	require.NoError(t, twenty.Model.Validate())
}

// Handwritten digits: passes to a relative gap from the limit.
func TestAlternatingOnDigits(t *testing.T) {
	x := digits(t, 100, "4", "9")
	for _, c := range []struct {
		loss         framework.Loss
		coarse, fine float64
	}{{losses.SquaredL2(), 40, 90}, {losses.L2(), 30, 140}} {
		fit := learn(t, x, Config{Latent: 2, Loss: c.loss, Ridge: NoRidge, Solver: solvers.Alternating{}, Options: framework.Options{MinRelativeDecrease: -1, MaxIterations: 200, Tolerance: 1e-8, CheckEvery: 1000}})
		assert.Less(t, fit.Run.Stationarity[BlockQ], 1e-6)
		assert.LessOrEqual(t, passesTo(fit.Run, fit.Run.Cost, 1e-3), c.coarse, c.loss.Name())
		assert.LessOrEqual(t, passesTo(fit.Run, fit.Run.Cost, 1e-6), c.fine, c.loss.Name())
	}
}

// passesTo returns the number of passes after which a run was within a relative
// gap of a cost, infinite where it never was.
func passesTo(run *framework.Result, cost, gap float64) float64 {
	for _, r := range run.History {
		if r.Cost <= cost*(1+gap) {
			return r.Passes
		}
	}
	return math.Inf(1)
}

// Thirty times the passes of the alternating solver do not bring gradient
// descent as far.
func TestAlternatingBeatsGradientDescent(t *testing.T) {
	x := digits(t, 100, "4", "9")
	p, start := begin(t, x, losses.L2(), 2, 3, 0)
	fast, err := framework.Solve(context.Background(), p, start, solvers.Alternating{}, framework.Options{MinRelativeDecrease: -1, MaxIterations: 100, CheckEvery: 1000})
	require.NoError(t, err)
	passes := passesTo(fast, fast.Cost, 1e-3)
	slow, err := framework.Solve(context.Background(), p, start, solvers.RGD{}, framework.Options{
		MinRelativeDecrease: -1, MaxIterations: 100000, MaxEvaluations: int(15 * passes), CheckEvery: 1 << 30,
	})
	require.NoError(t, err)
	assert.Greater(t, slow.History[len(slow.History)-1].Passes, 20*passes)
	assert.Greater(t, slow.Cost, fast.Cost*(1+1e-3))
}

// A sweep against the time to read the data once.
func BenchmarkSweep(b *testing.B) {
	for _, shape := range [][4]int{{100, 784, 2, 3}, {100, 100, 2, 3}, {20000, 50, 2, 3}, {200000, 50, 2, 3}, {2000, 784, 8, 30}} {
		n, D, d, s := shape[0], shape[1], shape[2], shape[3]
		b.Run(fmt.Sprintf("n=%d,D=%d,d=%d,s=%d", n, D, d, s), func(b *testing.B) {
			p, x := begin(b, Data{N: n, D: D, X: gaussians(1, n*D)}, losses.L2(), d, s, 0)
			next := framework.NewPoint(p.Blocks())
			_, err := p.Sweep(next, x)
			require.NoError(b, err)
			b.SetBytes(int64(8 * n * D))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Sweep(next, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Fewer rows than columns are no reason for another solver: nothing follows sweeps that come to rest, and a few rows
// fewer do not take twice as many passes.
func TestFewRowsTakeNoMorePasses(t *testing.T) {
	more := learn(t, digits(t, 100, "4", "9"), Config{Latent: 2, Loss: named(t, "l2", 784)}).Run
	for _, n := range []int{60, 70, 80, 90} {
		run := learn(t, digits(t, n, "4", "9"), Config{Latent: 2, Loss: named(t, "l2", 784)}).Run
		assert.Equal(t, framework.Converged, run.Status, "%d rows", n)
		assert.Equal(t, "alternating", run.Solver, "%d rows", n)
		assert.LessOrEqual(t, run.Counts.Passes, 2*more.Counts.Passes, "%d rows", n)
	}
}
