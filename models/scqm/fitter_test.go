package scqm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// neighbourhoods returns sets of the 30 nearest of 300 noisy points on the unit
// sphere.
func neighbourhoods(n int) []Data {
	list := make([]Data, n)
	for i := range list {
		list[i] = sphereNeighbours(uint64(i), 300, 30, 10*i%300, 0.06)
	}
	return list
}

// A Fitter ends where the same solver ends from the same start, whatever it
// fitted before. That is where Learn ends, unless rows find nearer places on
// the sheet afterwards.
func TestFitterIsLearn(t *testing.T) {
	for _, name := range allLosses {
		for _, solver := range []framework.Solver{solvers.Newton{}, solvers.Continuation{Inner: solvers.Newton{}}} {
			if _, plain := solver.(solvers.Newton); plain && slices.Contains([]string{"l1", "quantile", "l2", "lp 1.25", "lp 1.3", "lp 1.5"}, name) {
				continue // Newton's method alone stalls at kinks, at some digit or other
			}
			c := Config{Latent: 2, Loss: named(t, name, 3), Ridge: 10, Solver: solver, Options: framework.Options{MinRelativeDecrease: 1e-14}}
			f, err := NewFitter(context.Background(), 30, 3, c)
			require.NoError(t, err)
			var m Model
			for i, x := range neighbourhoods(2) {
				out, err := f.Fit(&m, x)
				require.NoError(t, err)
				label := fmt.Sprintf("%s, %T, set %d", name, solver, i)
				fit := learn(t, x, c)
				assert.GreaterOrEqual(t, out.Objective+out.Penalty, fit.Run.Cost*(1-1e-9), label)
				digits := 1e-9
				if name == "l1" { // rounding of the start decides between vertices
					digits = 1e-3
				}
				if reassigned := strings.HasPrefix(name, "l"); !reassigned {
					assert.InEpsilon(t, fit.Run.Cost, out.Objective+out.Penalty, 1e-9, label)
					assert.InEpsilon(t, fit.Model.Meta.Penalty, out.Penalty, 1e-4, label)
				}
				p, start := begin(t, x, c.Loss, 2, 1, 1)
				require.NoError(t, p.setRidge(c.Ridge, &placed{x: start, spread: spread(*p.Data(), start[BlockC])}))
				p.SolveTheta(start)
				limits := c.options(x, solver)
				limits.FirstOrder = true
				run, err := framework.Solve(context.Background(), p, start, solver, limits)
				require.NoError(t, err)
				assert.InEpsilon(t, run.Cost, out.Objective+out.Penalty, digits, label)
				assert.True(t, out.Converged, label)
				assertDelivered(t, &m, x, out.Objective)
			}
		}
	}
}

// assertDelivered checks a model against the objective it is said to have.
func assertDelivered(t *testing.T, m *Model, x Data, objective float64) {
	t.Helper()
	require.NoError(t, m.Validate())
	rows, err := m.Reconstruct(context.Background(), m.Tau, 1)
	require.NoError(t, err)
	floats.Sub(rows, x.X)
	values := make([]float64, x.N)
	require.NoError(t, m.Loss.Evaluate(values, nil, rows, x.D))
	for i := range values {
		values[i] *= x.Weight(i)
	}
	assert.InEpsilon(t, floats.Sum(values), objective, 1e-9)
}

// The default solver reaches what a long run reaches: to the six digits of
// MinRelativeDecrease where the loss is smooth, about that of the basin else.
func TestFitterDefaults(t *testing.T) {
	for name, gap := range map[string]float64{
		"squared_l2": 1e-5, "huber": 1e-5, "mahalanobis": 1e-5, "lp 4": 1e-3, "lp 1.5": 1e-3, "l2": 0.03, "l1": 0.05,
	} {
		c := Config{Latent: 2, Loss: named(t, name, 3), Ridge: 10}
		f, err := NewFitter(context.Background(), 30, 3, c)
		require.NoError(t, err)
		var m Model
		for i, x := range neighbourhoods(6) {
			out, err := f.Fit(&m, x)
			require.NoError(t, err)
			assert.True(t, out.Converged)
			c.Solver = solvers.Continuation{Inner: solvers.Newton{}}
			assert.LessOrEqual(t, out.Objective+out.Penalty, learn(t, x, c).Run.Cost*(1+gap), "%s, set %d", name, i)
		}
	}
}

// Shapes other than surfaces in space, with weights, flat and curved.
func TestFitterShapes(t *testing.T) {
	for _, shape := range []struct{ n, D, d, s int }{{40, 2, 1, 1}, {40, 5, 2, 3}, {40, 5, 2, 0}, {40, 4, 3, 1}, {60, 20, 1, 1}} {
		for _, name := range []string{"squared_l2", "l1", "lp 4", "mahalanobis"} {
			x := Data{N: shape.n, D: shape.D, X: gaussians(3, shape.n*shape.D), Weights: make([]float64, shape.n)}
			for i := range x.Weights {
				x.Weights[i] = float64(1 + i%3)
			}
			c := Config{Latent: shape.d, Curvature: shape.s, Linear: shape.s == 0, Loss: named(t, name, shape.D), Ridge: 10}
			f, err := NewFitter(context.Background(), shape.n, shape.D, c)
			require.NoError(t, err)
			var m Model
			out, err := f.Fit(&m, x)
			require.NoError(t, err, "%s, %+v", name, shape)
			assertDelivered(t, &m, x, out.Objective)
			f.problem.Lambda = 0
			start, _, err := f.problem.flatStart()
			require.NoError(t, err)
			f.problem.SolveTheta(start)
			flat, err := f.problem.Evaluate(nil, start)
			require.NoError(t, err)
			assert.Less(t, out.Objective, 1.5*flat)
		}
	}
}

// Fits one after the other in the same memory are those of Fitters of their
// own, bit for bit.
func TestFitterForgets(t *testing.T) {
	for _, name := range []string{"squared_l2", "l1", "mahalanobis"} {
		c := Config{Latent: 2, Loss: named(t, name, 3), Ridge: 10}
		old, err := NewFitter(context.Background(), 30, 3, c)
		require.NoError(t, err)
		for _, x := range neighbourhoods(5) {
			var a, b Model
			first, err := old.Fit(&a, x)
			require.NoError(t, err)
			fresh, err := NewFitter(context.Background(), 30, 3, c)
			require.NoError(t, err)
			second, err := fresh.Fit(&b, x)
			require.NoError(t, err)
			assert.Equal(t, second, first, name)
			for k, want := range [][]float64{b.C, b.U, b.V, b.Theta, b.Tau} {
				assert.Equal(t, want, [][]float64{a.C, a.U, a.V, a.Theta, a.Tau}[k], name)
			}
		}
	}
}

func TestFitterInParallelIsTheSame(t *testing.T) {
	sets := neighbourhoods(12)
	c := Config{Latent: 2, Loss: losses.SquaredL2(), Ridge: 10}
	objectives := func(threads int) []float64 {
		list, fitters := make([]float64, len(sets)), make([]*Fitter, threads)
		for i := range fitters {
			f, err := NewFitter(context.Background(), 30, 3, c)
			require.NoError(t, err)
			fitters[i] = f
		}
		par.Do(threads, len(sets), func(worker, i int) {
			var m Model
			out, err := fitters[worker].Fit(&m, sets[i])
			assert.NoError(t, err)
			list[i] = out.Objective
		})
		return list
	}
	assert.Equal(t, objectives(1), objectives(3))
}

func TestFitterErrors(t *testing.T) {
	ctx := context.Background()
	good := Config{Latent: 2, Loss: losses.SquaredL2()}
	for name, k := range map[string]struct {
		n, D   int
		change func(*Config)
		want   string
	}{
		"no rows":        {0, 3, func(*Config) {}, "at least one"},
		"no columns":     {30, 0, func(*Config) {}, "at least one"},
		"no loss":        {30, 3, func(c *Config) { c.Loss = nil }, "no loss"},
		"latent":         {30, 3, func(c *Config) { c.Latent = 4 }, "latent dimension 4"},
		"solver":         {30, 3, func(c *Config) { c.Solver = solvers.RGD{} }, "not by rgd"},
		"stages of rgd":  {30, 3, func(c *Config) { c.Solver = solvers.Continuation{} }, "not by lbfgs"},
		"size":           {30, 400, func(*Config) {}, "too large for newton"},
		"loss dimension": {30, 4, func(c *Config) { c.Loss = named(t, "mahalanobis", 3) }, "rows of length 3"},
	} {
		c := good
		k.change(&c)
		_, err := NewFitter(ctx, k.n, k.D, c)
		require.ErrorIs(t, err, ErrInput, name)
		assert.ErrorContains(t, err, k.want, name)
	}

	f, err := NewFitter(ctx, 30, 3, good)
	require.NoError(t, err)
	var m Model
	x := neighbourhoods(1)[0]
	_, err = f.Fit(&m, Data{N: 29, D: 3, X: x.X[:87]})
	require.ErrorIs(t, err, ErrInput)
	assert.ErrorContains(t, err, "29 x 3 rows by a fitter for 30 x 3")
	broken := Data{N: 30, D: 3, X: slices.Clone(x.X)}
	broken.X[17] = math.NaN()
	_, err = f.Fit(&m, broken)
	require.ErrorIs(t, err, ErrInput)
	assert.ErrorContains(t, err, "row 5, column 2")
	huge := Data{N: 30, D: 3, X: slices.Clone(x.X)}
	floats.Scale(1e200, huge.X)
	_, err = f.Fit(&m, huge)
	assert.Error(t, err)
	assert.Empty(t, m.C, "nothing is written")

	out, err := f.Fit(&m, x)
	require.NoError(t, err, "errors leave the fitter usable")
	assertDelivered(t, &m, x, out.Objective)
}

func TestFitterEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f, err := NewFitter(ctx, 30, 3, Config{Latent: 2, Loss: losses.L1()})
	require.NoError(t, err)
	var m Model
	sets := neighbourhoods(2)
	_, err = f.Fit(&m, sets[0])
	require.NoError(t, err)
	before := slices.Clone(m.C)
	cancel()
	_, err = f.Fit(&m, sets[1])
	assert.Error(t, err)
	assert.Equal(t, before, m.C, "the model is left as it was")
}

// Data without extent, or with fewer rows than a sheet needs, give an error or a
// finite model.
func TestFitterDegenerateData(t *testing.T) {
	line := make([]float64, 30)
	for i := range 10 {
		line[3*i], line[3*i+1], line[3*i+2] = float64(i), 2*float64(i), -float64(i)
	}
	for name, x := range map[string]Data{
		"one row":  {N: 1, D: 3, X: []float64{1, 2, 3}},
		"two rows": {N: 2, D: 3, X: []float64{1, 2, 3, 4, 5, 6}},
		"constant": {N: 10, D: 3, X: make([]float64, 30)},
		"line":     {N: 10, D: 3, X: line},
	} {
		for _, loss := range allLosses {
			f, err := NewFitter(context.Background(), x.N, 3, Config{Latent: 2, Loss: named(t, loss, 3), Ridge: 10})
			require.NoError(t, err)
			var m Model
			out, err := f.Fit(&m, x)
			if err == nil {
				require.NoError(t, m.Validate(), "%s, %s", name, loss)
				assert.False(t, math.IsNaN(out.Objective) || math.IsInf(out.Objective, 0), "%s, %s", name, loss)
			}
		}
	}
}

func BenchmarkFitter(b *testing.B) {
	for _, name := range []string{"squared_l2", "huber", "mahalanobis", "lp 4", "lp 1.5", "l2", "l1"} {
		b.Run(name, func(b *testing.B) {
			sets := neighbourhoods(16)
			f, err := NewFitter(context.Background(), 30, 3, Config{Latent: 2, Loss: named(b, name, 3), Ridge: 10})
			require.NoError(b, err)
			var m Model
			b.ReportAllocs()
			i, iterations := 0, 0
			from := processorSeconds(b)
			for b.Loop() {
				out, err := f.Fit(&m, sets[i%16])
				if err != nil {
					b.Fatal(err)
				}
				iterations += out.Iterations
				i++
			}
			b.ReportMetric(float64(i)/(processorSeconds(b)-from), "fits/cpu-s")
			b.ReportMetric(float64(iterations)/float64(i), "iterations/fit")
		})
	}
}

// Many fits on all processors, one Fitter each.
func BenchmarkFitterParallel(b *testing.B) {
	sets := neighbourhoods(64)
	threads := par.Threads(0)
	fitters, models := make([]*Fitter, threads), make([]Model, threads)
	for i := range fitters {
		f, err := NewFitter(context.Background(), 30, 3, Config{Latent: 2, Loss: losses.SquaredL2(), Ridge: 10})
		require.NoError(b, err)
		fitters[i] = f
	}
	from, fits := processorSeconds(b), 0
	for b.Loop() {
		par.Do(threads, len(sets), func(worker, i int) {
			if _, err := fitters[worker].Fit(&models[worker], sets[i]); err != nil {
				panic(err)
			}
		})
		fits += len(sets)
	}
	b.ReportMetric(float64(fits)/b.Elapsed().Seconds(), "fits/s")
	b.ReportMetric(float64(fits)/(processorSeconds(b)-from), "fits/cpu-s")
}

// processorSeconds is the processor time of this process, which other processes
// on the machine do not stretch as they do elapsed time.
func processorSeconds(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
