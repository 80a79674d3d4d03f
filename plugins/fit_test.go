package plugins

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

// sheet is a noisy parabola.
func sheet(n int) scqm.Data { return wideSheet(n, 3) }

// wideSheet is one in D dimensions.
func wideSheet(n, D int) scqm.Data {
	x := scqm.Data{N: n, D: D, X: normal(D * n)}
	for i := range n {
		r := x.Row(i)
		floats.Scale(0.05, r[1:])
		r[1] += r[0] * r[0] / 2
	}
	return x
}

func config(l framework.Loss) scqm.Config {
	return scqm.Config{Latent: 1, Loss: l, Options: framework.Options{MaxIterations: 40}}
}

// TestFitsAgree learns the same model with a loss and with the same loss in a
// plugin.
func TestFitsAgree(t *testing.T) {
	x := sheet(120)
	for _, kind := range []string{"l1", "l2", "squared_l2", "lp:1.3", "huber:0.1"} {
		t.Run(kind, func(t *testing.T) {
			want, err := scqm.Learn(t.Context(), x, config(builtin(kind)))
			require.NoError(t, err)
			got, err := scqm.Learn(t.Context(), x, config(start(t, "builtin:"+kind, Options{}).Loss()))
			require.NoError(t, err)
			assert.InEpsilon(t, want.Model.Meta.Objective, got.Model.Meta.Objective, 1e-12)
			assert.Equal(t, want.Run.Iterations, got.Run.Iterations)
			assert.Equal(t, want.Model.Tau, got.Model.Tau)
		})
	}
}

// TestFitOutlivesItsPlugin kills the plugin in the middle of a fit: once, which the fit gets over, to the bit, and
// says; and again.
func TestFitOutlivesItsPlugin(t *testing.T) {
	for _, kind := range []string{"l1", "l2"} {
		for _, solver := range []framework.Solver{solvers.RGD{}, nil} {
			fitWithoutPlugin(t, kind, solver)
			want, err := scqm.Learn(t.Context(), sheet(120), scqm.Config{Latent: 1, Loss: builtin(kind), Solver: solver, Options: config(nil).Options})
			require.NoError(t, err)
			fit, err := fitKilling(t, kind, solver, 1)
			require.NoError(t, err)
			assert.Equal(t, want.Model.Tau, fit.Model.Tau)
			assert.Contains(t, strings.Join(fit.Model.Meta.Warnings, "; "), "was started again")
		}
	}
}

// fitKilling kills the plugin after the third iteration, and its successor after the next, up to so many.
func fitKilling(t *testing.T, kind string, solver framework.Solver, times int) (*scqm.Fit, error) {
	t.Helper()
	p := start(t, "builtin:"+kind, Options{})
	c := config(p.Loss())
	c.Solver = solver
	costs := []float64{}
	kill := func(p *Plugin) {
		p.process.End()
		<-p.process.Ended()
	}
	c.Options.Observers = []func(framework.Record){func(progress framework.Record) {
		costs = append(costs, progress.Cost)
		if len(costs) == 3 {
			kill(p)
		} else if next := p.next.Load(); len(costs) > 3 && times > 1 && next != nil {
			kill(next)
		}
	}}
	fit, err := scqm.Learn(t.Context(), sheet(120), c)
	require.NotNil(t, fit)
	assert.LessOrEqual(t, fit.Model.Meta.Objective, costs[0])
	return fit, err
}

func fitWithoutPlugin(t *testing.T, kind string, solver framework.Solver) {
	t.Helper()
	fit, err := fitKilling(t, kind, solver, 2)
	assert.ErrorIs(t, err, ErrCrashed)
	assert.False(t, math.IsNaN(fit.Model.Meta.Objective))
	assert.NoError(t, fit.Model.Validate())
}

// TestCancelledFit returns the best model so far.
func TestCancelledFit(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Open(ctx, self(t), Options{Env: []string{asPlugin + "=builtin:l1"}})
	require.NoError(t, err)
	defer p.Close()
	c, steps := config(p.Loss()), 0
	c.Options.Observers = []func(framework.Record){func(framework.Record) {
		if steps++; steps == 5 {
			cancel()
		}
	}}
	fit, err := scqm.Learn(ctx, sheet(120), c)
	require.NoError(t, err)
	assert.Equal(t, "cancelled", fit.Model.Meta.Status)
}

// TestModelFilesNameTheirPlugin stores a model, and reads it without a plugin
// being started.
func TestModelFilesNameTheirPlugin(t *testing.T) {
	p := start(t, "builtin:huber:0.1", Options{})
	x := sheet(60)
	fit, err := scqm.Learn(t.Context(), x, config(p.Loss()))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "model.npz")
	require.NoError(t, fit.Model.Save(path))
	m, err := scqm.Load(path)
	require.NoError(t, err)
	require.NotNil(t, m.Meta.Loss.Plugin)
	assert.Equal(t, p.Loss().(rowloss.Identified).Program(), *m.Meta.Loss.Plugin)
	assert.Nil(t, m.Loss)
	_, err = m.Project(t.Context(), x, 1)
	assert.ErrorContains(t, err, `the loss plugin "huber" of the model is not loaded`)
	assert.True(t, errors.Is(err, scqm.ErrInput))
	m.Loss = p.Loss()
	tau, err := m.Transform(t.Context(), x, 1)
	require.NoError(t, err)
	assert.Len(t, tau, 60)
}
