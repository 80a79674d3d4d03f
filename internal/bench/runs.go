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

// Reference is the solver that the others are compared with.
const Reference = "rgd"

// rgdFromTheta is gradient descent that starts at the Theta of least squares, like the
// other solvers. The published method starts at Theta = 0.
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

// Compare runs all solvers on the problem.
func (p *Problem) Compare(ctx context.Context, o Options) (*Comparison, error) {
	report := newComparison(p)
	for _, name := range o.solverNames() {
		r, err := p.fit(ctx, o, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		report.Runs = append(report.Runs, r)
	}
	var err error
	if report.PCA, err = p.principalFloor(ctx, o); err != nil {
		return nil, err
	}
	report.evaluate()
	return report, nil
}

// fit runs one solver on the problem. If the solver does not support the problem, Run.Note says why.
func (p *Problem) fit(ctx context.Context, o Options, name string) (*Run, error) {
	config := p.config(o)
	var err error
	if config.Solver, err = defaultSolver(name); err != nil {
		return nil, err
	}
	begin := time.Now()
	fit, err := o.learn(ctx, p.x, config)
	elapsed := time.Since(begin)
	if errors.Is(err, errors.ErrUnsupported) {
		return &Run{Solver: name, Note: strings.TrimSuffix(err.Error(), ": "+scqm.ErrInput.Error())}, nil
	}
	if fit == nil {
		return nil, err
	}
	run := fit.Run
	if run.Status == framework.Cancelled {
		return nil, context.Canceled
	}
	return &Run{
		Solver: name, Cost: run.Cost, Status: run.Status.String(), Stationarity: run.Stationarity,
		Iterations: run.Iterations, Passes: run.Counts.Passes, Seconds: elapsed.Seconds(), History: run.History,
	}, nil
}

// Floor is the loss and the time of principal components on the same rows.
type Floor struct {
	Objective float64 `json:"objective"`
	Seconds   float64 `json:"seconds"`
}

// principalFloor computes the loss of the flat sheet of least squares, and times how long
// finding it and the residual norms takes.
func (p *Problem) principalFloor(ctx context.Context, o Options) (Floor, error) {
	begin := time.Now()
	if _, err := scqm.ResidualNorms(p.x, Latent); err != nil {
		return Floor{}, err
	}
	floor := Floor{Seconds: time.Since(begin).Seconds()}
	flat := scqm.Config{Latent: Latent, Loss: losses.SquaredL2(), Linear: true, Options: framework.Options{MaxIterations: 1}}
	fit, err := o.learn(ctx, p.x, flat)
	if err != nil {
		return floor, err
	}
	floor.Objective, err = score(ctx, p.x, p.loss, fit.Model)
	return floor, err
}

// score returns the loss of the residuals between rows and their reconstructions by a model.
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
