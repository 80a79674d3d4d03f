package outside

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/residuals"
	"github.com/scqm/scqm/solvers"
)

func TestSimplex(t *testing.T) { frameworktest.TestManifold(t, "simplex", Simplex(4), 1) }

func TestLorentz(t *testing.T) {
	frameworktest.TestLoss(t, Lorentz{}, frameworktest.LossOptions{NonConvex: true})
}

func TestDescent(t *testing.T) {
	// The gradient of such steps rises and falls, so that it takes patience.
	frameworktest.TestSolver(t, Descent{}, frameworktest.SolverOptions{Options: framework.Options{Patience: 100, MaxIterations: 10000}})
}

// mixture has measurements of known weights, of which each fifth is wrong.
func mixture() (m Mixture, truth []float64) {
	truth = []float64{0.1, 0.2, 0.3, 0.4}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 50 {
		parts := make([]float64, len(truth))
		for k := range parts {
			parts[k] = 10 * rng.NormFloat64()
		}
		y := dot(parts, truth)
		if i%5 == 0 {
			y += 10 * rng.NormFloat64()
		}
		m.Parts, m.Measured = append(m.Parts, parts), append(m.Measured, y)
	}
	return m, truth
}

func TestMixture(t *testing.T) {
	m, truth := mixture()
	for _, loss := range []framework.Loss{losses.L2(), Lorentz{}} {
		p, err := residuals.New(context.Background(), m, loss, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		frameworktest.TestProblem(t, "mixture", p, frameworktest.ProblemOptions{Seed: 1})
	}
	start := framework.Point{{0.25, 0.25, 0.25, 0.25}}
	fit, err := residuals.Fit(context.Background(), m, start, residuals.Config{Loss: losses.L2()})
	if err != nil {
		t.Fatal(err)
	}
	near(t, fit.Run, truth, 1e-6)
}

// TestByName solves with the registered loss and the registered solver.
func TestByName(t *testing.T) {
	m, truth := mixture()
	loss, err := losses.ByName("lorentz", losses.Params{})
	if err != nil {
		t.Fatal(err)
	}
	start := framework.Point{{0.25, 0.25, 0.25, 0.25}}
	for _, name := range []string{"barzilai_borwein", "trust_region", "lbfgs"} {
		solver, err := solvers.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := residuals.Fit(context.Background(), m, start, residuals.Config{Loss: loss, Solver: solver})
		if err != nil {
			t.Fatal(err)
		}
		near(t, fit.Run, truth, 1e-2)
	}
}

func near(t *testing.T, run *framework.Result, truth []float64, within float64) {
	t.Helper()
	if run.Status != framework.Converged {
		t.Errorf("%v: %s", run.Status, run.Message)
	}
	for k, w := range run.Point[0] {
		if !(math.Abs(w-truth[k]) <= within) {
			t.Errorf("weights %v, want %v", run.Point[0], truth)
			return
		}
	}
}
