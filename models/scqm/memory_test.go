package scqm

import (
	"context"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// live is what the heap holds.
func live() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// What a fit holds at any iteration is below what it has reserved.
func TestFitsHoldLessThanTheyReserve(t *testing.T) {
	shapes := []struct{ n, D, d int }{{5000, 10, 2}, {1000, 60, 1}, {150, 200, 2}}
	for _, s := range shapes {
		x := Data{N: s.n, D: s.D, X: gaussians(uint64(s.n), s.n*s.D)}
		for _, solver := range []framework.Solver{
			solvers.Continuation{Inner: solvers.Alternating{}, Finish: true}, solvers.Continuation{Inner: solvers.LBFGS{}, Finish: true}, solvers.Continuation{Inner: solvers.TrustRegion{}}, solvers.ConjugateGradient{}, solvers.Newton{}, solvers.RGD{}, nil,
		} {
			for _, loss := range []framework.Loss{losses.L2(), losses.L1()} {
				if !serves(solver, loss) {
					continue
				}
				before, held, reserved := live(), 0.0, 0.0
				c := Config{Latent: s.d, Curvature: FullCurvature, Loss: loss, Solver: solver, Ridge: 0.001}
				c.Options.MaxIterations = 1
				c.Options.Observers = []func(framework.Record){func(framework.Record) {
					held, reserved = max(held, live()-before), float64(memory.Reserved())
				}}
				fit, err := Learn(context.Background(), x, c)
				if _, newton := solver.(solvers.Newton); newton && s.D > 100 {
					assert.ErrorContains(t, err, "the solver newton cannot fit")
					continue
				}
				require.NoError(t, err)
				name := fit.Model.Meta.Solver
				assert.Less(t, held, reserved+256<<10, "%v %s %s", s, name, loss.Name())
				assert.Zero(t, memory.Reserved(), name)
			}
		}
	}
}

// Some second derivatives have room for a flat sheet only. They were not counted, and the process was killed.
func TestNewtonReservesForFlatSheets(t *testing.T) {
	f := newFootprint(Data{N: 1000000, D: 7}, losses.L2(), 2, 0, 1)
	assert.Greater(t, f.solver(solvers.Newton{}), 2*f.outer()*f.n*f.d)
}

// Work that does not fit is refused with the figures before it begins.
func TestWorkThatDoesNotFit(t *testing.T) {
	ctx := context.Background()
	x := Data{N: 20000, D: 30, X: gaussians(5, 20000*30)}
	small := Data{N: 300, D: 30, X: x.X[:9000]}
	fit, err := Learn(ctx, small, Config{Latent: 2, Loss: losses.L2(), Ridge: 0.001})
	require.NoError(t, err)
	memory.SetCeiling(int64(live())+6<<20, "--memory")
	defer memory.SetCeiling(0, "")
	for name, work := range map[string]func() error{
		"fit":         func() error { _, err := Learn(ctx, x, Config{Latent: 2, Loss: losses.L2()}); return err },
		"reconstruct": func() error { _, err := fit.Model.Reconstruct(ctx, x.X, 1); return err },
		"project":     func() error { _, err := fit.Model.Project(ctx, x, 1); return err },
		"report":      func() error { _, err := fit.Model.ProjectAll(ctx, x, 1); return err },
		"influence":   func() error { _, err := fit.Model.Influence(ctx, x, 1); return err },
	} {
		err := work()
		require.ErrorIs(t, err, ErrMemory, name)
		assert.NotErrorIs(t, err, ErrInput, name)
		assert.Regexp(t, `of memory, and .* is left by --memory \(.*\); take (the solver streaming, or )?fewer rows or columns, or raise --memory$`, err.Error(), name)
	}
	_, err = Learn(ctx, Data{N: 200, D: 5, X: x.X[:1000]}, Config{Latent: 2, Loss: losses.L2()})
	require.NoError(t, err, "what fits is still done")
}

// Numbers of shapes beyond all memory are large, and never overflow.
func TestFootprintsDoNotOverflow(t *testing.T) {
	for _, loss := range []framework.Loss{losses.L1(), losses.L2()} {
		f := newFootprint(Data{N: math.MaxInt, D: math.MaxInt}, loss, math.MaxInt, math.MaxInt, 1)
		for _, s := range []framework.Solver{solvers.Alternating{}, solvers.Newton{}, solvers.LBFGS{}, solvers.ConjugateGradient{}, solvers.TrustRegion{}, solvers.RGD{}} {
			assert.Greater(t, f.solver(s), 1e18, s.Name())
		}
		assert.Greater(t, f.problem()+f.components(), 1e18)
	}
}
