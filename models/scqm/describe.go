package scqm

import (
	"context"
	"errors"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// meta returns the Meta of a run.
func (p *Problem) meta(c Config, solver framework.Solver, run *framework.Result, notes []string) Meta {
	kkt := p.judge(run)
	penalty := p.Penalty(nil, run.Point[BlockTheta]) + p.PriorPenalty(run.Point)
	return c.meta(p.Shape(), p.Data().N, p.Data().TotalWeight(), penalty, solver, run, kkt, notes)
}

// meta returns the Meta of a fit of n rows with a total weight.
func (c Config) meta(f sheet.Shape, n int, weight, penalty float64, solver framework.Solver, run *framework.Result, kkt *KKT, notes []string) Meta {
	warnings := []string{}
	switch run.Status {
	case framework.Stalled, framework.MaxIterations, framework.MaxEvaluations:
		warnings = append(warnings, run.Message)
	}
	if l, ok := c.Loss.(rowloss.Noted); ok {
		warnings = append(warnings, l.Notes()...)
	}
	return Meta{
		Format: FormatVersion, Version: Version,
		Objective: run.Cost - penalty, Penalty: penalty, MeanLoss: (run.Cost - penalty) / weight,
		Loss: describeLoss(c.Loss), N: n, D: f.D,
		Latent: f.Latent, Curvature: f.S, Effective: f.S, Linear: c.Linear || f.S == 0, Ridge: c.ridgeOf(f.S),
		Solver: solver.Name(), Status: run.Status.String(), Message: run.Message,
		Iterations: run.Iterations, Evaluations: run.Counts.Evaluations,
		KKT: kkt, Stationarity: run.Stationarity, Inits: max(c.Inits, 1), Seed: c.Seed, Notes: notes, Warnings: warnings,
	}
}

// judge evaluates the first-order conditions at the end of a run. It returns nil after a cancellation. A run that ends
// just before its context is done counts as cancelled, as its report would be incomplete.
func (p *Problem) judge(run *framework.Result) *KKT {
	if run.Stationarity == nil {
		return nil
	}
	kkt, err := p.KKT(run.Point)
	if err == nil {
		return &kkt
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		run.Status = framework.Cancelled
		run.Message = fmt.Sprintf("cancelled after %d iterations, before the result was judged; the best point so far is kept", run.Iterations)
	}
	return nil
}

// model converts a point to a model in canonical form.
func (p *Problem) model(x framework.Point) *Model {
	f := p.NewSheet()
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	m := &Model{Loss: p.Loss(), Tau: append([]float64(nil), x[BlockTau]...)}
	sheet.Canonicalize(f, m.Tau, p.Data().Weights)
	m.fromSheet(f)
	return m
}
