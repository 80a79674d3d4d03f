package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

// reference is the solver that others are compared with.
const reference = "rgd"

// fromBent is gradient descent that starts where the other solvers do, at the
// Theta of least squares; as published it starts at Theta = 0.
type fromBent struct{ solvers.RGD }

// solverNames lists the solvers to compare, the reference last.
func (f *benchFlags) solverNames() []string {
	var names []string
	for _, d := range solvers.Describe() {
		if d.Name != reference && (len(f.solvers) == 0 || slices.Contains(f.solvers, d.Name)) {
			names = append(names, d.Name)
		}
	}
	return append(names, reference)
}

// benchSolver makes a solver with its default settings.
func benchSolver(name string) framework.Solver {
	if name == reference {
		return fromBent{}
	}
	s, _ := solvers.ByName(name) // from solvers.Describe or checked
	return s
}

// outcome is one fit by one solver.
type outcome struct {
	cost         float64
	status       framework.Status
	message      string
	stationarity []float64
	iterations   int
	passes       float64
	elapsed      time.Duration // of the whole fit, start and report included
	history      []framework.Record
}

// compare runs all solvers on all sets of a case.
func (f *benchFlags) compare(cmd *cobra.Command, c *benchCase) (*caseReport, error) {
	report := newCaseReport(c)
	for _, name := range f.solverNames() {
		r := &runReport{Solver: name}
		report.Runs = append(report.Runs, r)
		if why := unsuited(cmd.Context(), c, name); why != "" {
			r.Note = why
			continue
		}
		for k := range c.sets {
			o, err := f.fit(cmd, c, k, name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			r.outcomes = append(r.outcomes, o)
		}
	}
	var err error
	if report.PCA, err = principalFloor(cmd, c); err != nil {
		return nil, err
	}
	if c.fitter {
		if report.Fitter, err = f.fitterRate(cmd.Context(), c); err != nil {
			return nil, err
		}
	}
	report.evaluate()
	return report, nil
}

// fit does one fit.
func (f *benchFlags) fit(cmd *cobra.Command, c *benchCase, k int, name string) (*outcome, error) {
	config := c.config(k, f)
	config.Solver = benchSolver(name)
	begin := time.Now()
	fit, err := learn(cmd.Context(), c.sets[k], config)
	elapsed := time.Since(begin)
	if fit == nil {
		return nil, err
	}
	run := fit.Run
	if run.Status == framework.Cancelled {
		return nil, context.Canceled
	}
	return &outcome{
		cost: run.Cost, status: run.Status, message: run.Message, stationarity: run.Stationarity,
		iterations: run.Iterations, passes: run.Counts.Passes, elapsed: elapsed, history: run.History,
	}, nil
}

// unsuited says why a solver would fall back to gradient descent, or nothing.
func unsuited(ctx context.Context, c *benchCase, name string) string {
	x := c.sets[0]
	s := min(benchLatent*(benchLatent+1)/2, x.D-benchLatent)
	p, err := scqm.NewProblem(ctx, x, c.losses[0], benchLatent, s, 1)
	if err != nil {
		return ""
	}
	if _, small := p.ArrowheadShape(); name == "newton" && !small {
		return "D is too large for second derivatives, and it would do as rgd"
	}
	return ""
}

// floorReport is what principal components make of the rows.
type floorReport struct {
	Objective float64 `json:"objective"` // mean over the sets
	Seconds   float64 `json:"seconds"`   // median
}

// principalFloor scores the flat sheet of least squares with the loss of the
// case, and takes the time to find it and the residual norms.
func principalFloor(cmd *cobra.Command, c *benchCase) (floorReport, error) {
	var floor floorReport
	var seconds []float64
	for k, x := range c.sets {
		begin := time.Now()
		if _, err := scqm.ResidualNorms(x, benchLatent); err != nil {
			return floor, err
		}
		seconds = append(seconds, time.Since(begin).Seconds())
		flat := scqm.Config{Latent: benchLatent, Loss: losses.SquaredL2(), Linear: true, Options: framework.Options{MaxIterations: 1}}
		fit, err := learn(cmd.Context(), x, flat)
		if err != nil {
			return floor, err
		}
		cost, err := score(cmd.Context(), x, c.losses[k], fit.Model)
		if err != nil {
			return floor, err
		}
		floor.Objective += cost / float64(len(c.sets))
	}
	floor.Seconds = median(seconds)
	return floor, nil
}

// score returns the loss of rows as a model reconstructs them.
func score(ctx context.Context, x scqm.Data, loss framework.Loss, m *scqm.Model) (float64, error) {
	r, err := m.Reconstruct(ctx, m.Tau, 0)
	if err != nil {
		return 0, err
	}
	for i := range r {
		r[i] -= x.X[i]
	}
	values := make([]float64, x.N)
	if err := loss.Evaluate(values, nil, r, x.D); err != nil {
		return 0, err
	}
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum, nil
}

// fitterReport says how many small fits one processor does.
type fitterReport struct {
	PerSecond  float64 `json:"fits_per_second_per_core"`
	Iterations float64 `json:"iterations_per_fit"`
	Converged  float64 `json:"converged"` // the part of them
}

// fitterBatch is the time of one of the batches of which the best counts: other
// work on the machine only ever makes one slower.
const fitterBatch = 100 * time.Millisecond

// fitterRate fits all sets again and again with a [scqm.Fitter].
func (f *benchFlags) fitterRate(ctx context.Context, c *benchCase) (*fitterReport, error) {
	config := c.config(0, f)
	config.Options = framework.Options{}
	fitter, err := scqm.NewFitter(ctx, c.sets[0].N, c.sets[0].D, config)
	if errors.Is(err, scqm.ErrInput) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	report := &fitterReport{}
	var m scqm.Model
	for range 5 {
		fits, iterations, converged := 0, 0, 0
		begin := time.Now()
		for time.Since(begin) < fitterBatch {
			for _, x := range c.sets {
				out, err := fitter.Fit(&m, x)
				if err != nil {
					return nil, err
				}
				fits++
				iterations += out.Iterations
				if out.Converged {
					converged++
				}
			}
		}
		report.PerSecond = math.Max(report.PerSecond, float64(fits)/time.Since(begin).Seconds())
		report.Iterations, report.Converged = float64(iterations)/float64(fits), float64(converged)/float64(fits)
	}
	return report, nil
}

// median returns the middle of some numbers, which may be infinite.
func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	if a, b := sorted[(n-1)/2], sorted[n/2]; a != b {
		return (a + b) / 2
	}
	return sorted[n/2]
}
