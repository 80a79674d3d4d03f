package scqm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

const (
	// refitTolerance and refitIterations end the fits of LeaveOut.
	refitTolerance  = 1e-8
	refitIterations = 5000
)

// LeaveOut refits without each of the rows of x listed, one at a time, starting from the fit, and returns the
// quantities that [Model.Influence] predicts, as a slow check of it. x are the rows with the weights that the
// model was fitted to. The penalty of a ridge is not changed. Every row costs a fit.
func (m *Model) LeaveOut(ctx context.Context, x Data, rows []int, threads int) ([]RowInfluence, error) {
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	m, err := m.forComplete(x, "influence")
	if err != nil {
		return nil, err
	}
	for _, i := range rows {
		if i < 0 || i >= x.N || x.N < 2 {
			return nil, fmt.Errorf("scqm: row %d cannot be left out of %d rows: %w", i, x.N, ErrInput)
		}
	}
	q := request{data: x, loss: m.Loss, model: m}
	defer q.release()
	back, err := q.reduce()
	if err != nil {
		return nil, err
	}
	fit, err := q.model.asPoint(ctx, q.data, threads)
	if err != nil {
		return nil, err
	}
	if err := fit.refine(ctx); err != nil {
		return nil, err
	}
	out := make([]RowInfluence, len(rows))
	for k, i := range rows {
		if out[k], err = fit.refit(ctx, i); err != nil {
			return nil, fmt.Errorf("scqm: without row %d: %w", i, err)
		}
		back(ctx, &results{lengths: out[k].lengths()})
	}
	return out, nil
}

// refit fits without row i.
func (s *pointFit) refit(ctx context.Context, i int) (out RowInfluence, err error) {
	p := s.problem
	f, x := p.Shape(), *p.Data()
	before, after := s.sheet(), sheet.New(f.D, f.Latent, f.S)
	out.Residual = before.Gap(nil, nil, s.at[BlockTau][i*f.Latent:(i+1)*f.Latent], x.Row(i))
	if x.Weight(i) == 0 {
		out.Without = out.Residual
		return out, nil
	}
	rest := Data{N: x.N - 1, D: x.D, X: slices.Delete(slices.Clone(x.X), i*x.D, (i+1)*x.D)}
	if x.Weights != nil {
		rest.Weights = slices.Delete(slices.Clone(x.Weights), i, i+1)
	}
	small, err := NewProblem(ctx, rest, p.Loss(), f.Latent, f.S, p.Threads())
	if err != nil {
		return out, err
	}
	small.Lambda = p.Lambda
	start := s.at.Clone()
	start[BlockTau] = slices.Delete(start[BlockTau], i*f.Latent, (i+1)*f.Latent)
	run, err := framework.Solve(ctx, small, start, solvers.Auto(small), framework.Options{Tolerance: refitTolerance, MaxIterations: refitIterations, FirstOrder: true})
	if err != nil {
		return out, err
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	after.Load(run.Point[BlockC], run.Point[BlockQ], run.Point[BlockTheta])
	tau := slices.Clone(s.at[BlockTau])
	if err := nearest.RefineRows(ctx, tau, after, p.Loss(), x, p.Threads()); err != nil {
		return out, err
	}
	var sum float64
	for j := range x.N {
		local := tau[j*f.Latent : (j+1)*f.Latent]
		gap := after.Gap(before, s.at[BlockTau][j*f.Latent:(j+1)*f.Latent], local, nil)
		sum += x.Weight(j) / x.TotalWeight() * gap * gap
		if j == i {
			out.Without = after.Gap(nil, nil, local, x.Row(i))
		}
	}
	out.Move = math.Sqrt(sum)
	return out, nil
}
