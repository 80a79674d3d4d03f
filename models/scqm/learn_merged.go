package scqm

import (
	"context"
	"errors"
	"slices"

	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// learnMerged fits the merged data and gives every row of the data its coordinates.
func learnMerged(ctx context.Context, m *rows.Merged, c Config) (*Fit, error) {
	fit, err := learnDistinct(ctx, m.Data, c)
	if fault := (*objective.LossError)(nil); errors.As(err, &fault) {
		fault.Row = slices.Index(m.Row, fault.Row)
	}
	if fit == nil {
		return nil, err
	}
	d, model := fit.Model.Latent, fit.Model
	tau, weightless := make([]float64, m.From.N*d), []int(nil)
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
	if err != nil || ctx.Err() != nil {
		return fit, err
	}
	return fit, projectWeightless(ctx, m, model, weightless, c.Threads)
}

// projectWeightless gives rows of weight zero the coordinates of their projections.
func projectWeightless(ctx context.Context, m *rows.Merged, model *Model, rows []int, threads int) error {
	if len(rows) == 0 {
		return nil
	}
	x := Data{N: len(rows), D: m.From.D}
	for _, i := range rows {
		x.X = append(x.X, m.From.Row(i)...)
	}
	tau, err := model.Transform(ctx, x, threads)
	if err != nil {
		return err
	}
	for k, i := range rows {
		copy(model.Tau[i*model.Latent:(i+1)*model.Latent], tau[k*model.Latent:])
	}
	return nil
}
