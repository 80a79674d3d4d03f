package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

// Reference is the solver that others are compared with.
const Reference = "rgd"

// rgdFromTheta is gradient descent that starts where the other solvers do, at the
// Theta of least squares; as published it starts at Theta = 0.
type rgdFromTheta struct{ solvers.RGD }

// solverNames lists the solvers to compare, the reference last.
func (o Options) solverNames() []string {
	var names []string
	for _, d := range solvers.Describe() {
		if d.Name != Reference && (len(o.Solvers) == 0 || slices.Contains(o.Solvers, d.Name)) {
			names = append(names, d.Name)
		}
	}
	return append(names, Reference)
}

// defaultSolver makes a solver with its default settings.
func defaultSolver(name string) (framework.Solver, error) {
	if name == Reference {
		return rgdFromTheta{}, nil
	}
	return solvers.ByName(name)
}

// outcome is one fit by one solver.
type outcome struct {
	cost         float64
	status       framework.Status
	stationarity []float64
	iterations   int
	passes       float64
	elapsed      time.Duration // of the whole fit, start and report included
	history      []framework.Record
}

// Compare runs all solvers on all sets of rows of the problem.
func (p *Problem) Compare(ctx context.Context, o Options) (*Comparison, error) {
	report := newComparison(p)
	for _, name := range o.solverNames() {
		r := &Run{Solver: name}
		report.Runs = append(report.Runs, r)
		for k := range p.sets {
			out, err := p.fit(ctx, o, k, name)
			if errors.Is(err, errors.ErrUnsupported) {
				r.Note = strings.TrimSuffix(err.Error(), ": "+scqm.ErrInput.Error())
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			r.outcomes = append(r.outcomes, out)
		}
	}
	var err error
	if report.PCA, err = p.principalFloor(ctx, o); err != nil {
		return nil, err
	}
	if p.regime.fitter {
		if report.Fitter, err = p.fitterRate(ctx, o); err != nil {
			return nil, err
		}
	}
	report.evaluate()
	return report, nil
}

// fit does one fit.
func (p *Problem) fit(ctx context.Context, o Options, k int, name string) (*outcome, error) {
	config := p.config(k, o)
	var err error
	if config.Solver, err = defaultSolver(name); err != nil {
		return nil, err
	}
	begin := time.Now()
	fit, err := o.learn(ctx, p.sets[k], config)
	elapsed := time.Since(begin)
	if fit == nil {
		return nil, err
	}
	run := fit.Run
	if run.Status == framework.Cancelled {
		return nil, context.Canceled
	}
	return &outcome{
		cost: run.Cost, status: run.Status, stationarity: run.Stationarity,
		iterations: run.Iterations, passes: run.Counts.Passes, elapsed: elapsed, history: run.History,
	}, nil
}

// Floor is what principal components make of the rows.
type Floor struct {
	Objective float64 `json:"objective"` // mean over the sets
	Seconds   float64 `json:"seconds"`   // median
}

// principalFloor scores the flat sheet of least squares with the loss of the
// problem, and takes the time to find it and the residual norms.
func (p *Problem) principalFloor(ctx context.Context, o Options) (Floor, error) {
	var floor Floor
	var seconds []float64
	for k, x := range p.sets {
		begin := time.Now()
		if _, err := scqm.ResidualNorms(x, Latent); err != nil {
			return floor, err
		}
		seconds = append(seconds, time.Since(begin).Seconds())
		flat := scqm.Config{Latent: Latent, Loss: losses.SquaredL2(), Linear: true, Options: framework.Options{MaxIterations: 1}}
		fit, err := o.learn(ctx, x, flat)
		if err != nil {
			return floor, err
		}
		cost, err := score(ctx, x, p.losses[k], fit.Model)
		if err != nil {
			return floor, err
		}
		floor.Objective += cost / float64(len(p.sets))
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
