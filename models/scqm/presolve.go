package scqm

import (
	"context"
	"errors"
	"slices"

	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// reduce replaces the request by an equivalent one that is smaller or has a simpler loss. It leaves the reduction to
// the span of the rows to [Problem.restrict], as starts need the rows in R^D.
func (r *request) reduce() (undo, error) {
	split, err := r.mergeRows()
	if err != nil {
		return nil, err
	}
	r.columns, r.notes = r.config.curvature(r.data)
	back, err := r.turnRows()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, fit *Fit, failure error) error {
		return split(ctx, fit, back(ctx, fit, failure))
	}, nil
}

// mergeRows merges equal rows and drops those of weight zero.
func (r *request) mergeRows() (undo, error) {
	hashes, err := reserve("merging equal rows", r.data, float64(r.data.N)) // of a hash each
	if err != nil {
		return nil, err
	}
	needed := rows.Repeats(r.data)
	hashes.Release()
	if !needed {
		return unchanged, nil
	}
	if err := r.reserve(reserve("merging equal rows", r.data, float64(r.data.N)*float64(r.data.D+12))); err != nil {
		return nil, err
	}
	m := rows.Merge(r.data)
	r.data = m.Data
	threads := r.config.Threads
	return func(ctx context.Context, fit *Fit, failure error) error {
		if fault := (*objective.LossError)(nil); errors.As(failure, &fault) {
			fault.Row = slices.Index(m.Row, fault.Row)
		}
		if fit == nil {
			return failure
		}
		weightless := fit.expandRows(m)
		if failure != nil || ctx.Err() != nil {
			return failure
		}
		return fit.Model.projectWeightless(ctx, m.From, weightless, threads)
	}, nil
}

// expandRows gives every row the coordinates of its merged row. It lists the rows of weight zero, which have none.
func (f *Fit) expandRows(m *rows.Merged) (weightless []int) {
	d, model := f.Model.Latent, f.Model
	tau := make([]float64, m.From.N*d)
	for i, k := range m.Row {
		if k < 0 {
			weightless = append(weightless, i)
			continue
		}
		copy(tau[i*d:(i+1)*d], model.Tau[k*d:])
	}
	model.Tau = tau
	model.Meta.N = m.From.N
	if kkt := model.Meta.KKT; kkt != nil {
		share := float64(m.Data.N) / float64(m.From.N)
		*kkt = KKT{C: kkt.C * share, Q: kkt.Q * share, Theta: kkt.Theta * share, Tau: kkt.Tau * share}
	}
	return weightless
}

// projectWeightless computes the coordinates of the rows of weight zero by projection.
func (m *Model) projectWeightless(ctx context.Context, x Data, list []int, threads int) error {
	if len(list) == 0 {
		return nil
	}
	some := x.Select(list)
	some.Weights = nil
	tau, err := m.Transform(ctx, some, threads)
	if err != nil {
		return err
	}
	for k, i := range list {
		copy(m.Tau[i*m.Latent:(i+1)*m.Latent], tau[k*m.Latent:])
	}
	return nil
}
