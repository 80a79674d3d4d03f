package scqm

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// presolve lists the reductions applied to every request. Where the rows span less than R^D the computation
// continues in their span, which is left to [Problem.restrict], as starts need the rows in R^D.
var presolve = []reduction{mergeRows{}, rescale{}, dropColumns{}, turnRows{}}

// reduce presolves the request.
func (r *request) reduce() (undo, error) {
	var list []undo
	for _, step := range presolve {
		back, err := step.apply(r)
		if err != nil {
			return nil, err
		}
		if back != nil {
			list = append(list, back)
		}
	}
	return func(ctx context.Context, out *results) {
		for _, back := range slices.Backward(list) {
			back(ctx, out)
		}
	}, nil
}

// mergeRows merges equal rows and drops those of weight zero. Influences of rows need them apart.
type mergeRows struct{}

func (mergeRows) apply(r *request) (undo, error) {
	if r.model != nil {
		return nil, nil
	}
	hashes, err := reserve("merging equal rows", r.data, float64(r.data.N)) // of a hash each
	if err != nil {
		return nil, err
	}
	needed := rows.Repeats(r.data)
	hashes.Release()
	if !needed {
		return nil, nil
	}
	if err := r.reserve(reserve("merging equal rows", r.data, float64(r.data.N)*float64(r.data.D+12))); err != nil {
		return nil, err
	}
	m := rows.Merge(r.data)
	r.data = m.Data
	threads := 0
	if r.config != nil {
		threads = r.config.Threads
	}
	return func(ctx context.Context, out *results) {
		if fault := (*objective.LossError)(nil); errors.As(out.failure, &fault) {
			fault.Row = slices.Index(m.Row, fault.Row)
		}
		if out.fit == nil {
			return
		}
		weightless := out.fit.expandRows(m)
		if out.failure == nil && ctx.Err() == nil {
			out.failure = out.fit.Model.projectWeightless(ctx, m.From, weightless, threads)
		}
	}, nil
}

// expandRows gives every row the coordinates of the row it was merged into, and returns the dropped ones.
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

// projectWeightless gives rows of weight zero the coordinates of their projections.
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

// rescale divides data of size beyond 2^100 or below 2^-100 by a power of two, where the loss is a
// [rowloss.Rescaler].
type rescale struct{}

func (rescale) apply(r *request) (undo, error) {
	unit, loss := rows.WorkingUnit(r.data), r.loss
	rescaled, factor, ok := rows.Rescaled(loss, unit)
	if unit == 1 || !ok {
		return nil, nil
	}
	if err := r.reserve(reserveUnits(r.data)); err != nil {
		return nil, err
	}
	r.data, r.loss = r.data.InUnits(unit), rescaled
	if r.config != nil || r.model != nil { // others have results without losses
		if err := rows.CheckSums(r.data, rescaled, unit, factor); err != nil {
			return nil, err
		}
	}
	switch {
	case r.config != nil:
		c := *r.config
		c.Loss = rescaled
		r.config = &c
	case r.model != nil:
		r.model = r.model.inUnits(unit, factor, rescaled)
	}
	return func(_ context.Context, out *results) {
		if out.fit != nil && !out.fit.leaveUnits(unit, factor, loss) {
			out.fit, out.failure = nil, rows.ErrOverflow
		}
		for _, v := range out.lengths {
			*v *= unit
		}
		for _, v := range out.inverse {
			*v /= unit
		}
	}, nil
}

// inUnits returns the model of data divided by a unit, for which the loss is that
// of the data divided by factor.
func (m *Model) inUnits(unit, factor float64, loss framework.Loss) *Model {
	scaled := *m
	scaled.Loss = loss
	scaled.C, scaled.Tau, scaled.Theta = slices.Clone(m.C), slices.Clone(m.Tau), slices.Clone(m.Theta)
	floats.Scale(1/unit, scaled.C)
	floats.Scale(1/unit, scaled.Tau)
	floats.Scale(unit, scaled.Theta)
	scaled.Meta.Objective /= factor
	scaled.Meta.Penalty /= factor
	return &scaled
}

// leaveUnits converts a fit to data in a unit, with the loss times factor, to the data themselves. It reports
// false on overflow or underflow.
func (f *Fit) leaveUnits(unit, factor float64, loss framework.Loss) bool {
	m := f.Model
	floats.Scale(unit, m.C)
	floats.Scale(unit, m.Tau)
	for i := range m.Theta {
		m.Theta[i] /= unit
	}
	m.Loss = loss
	m.Meta.Loss = describeLoss(loss)
	for _, v := range []*float64{&m.Meta.Objective, &m.Meta.Penalty, &m.Meta.MeanLoss, &f.Run.Cost} {
		*v *= factor
	}
	if m.Meta.Missing != nil {
		floats.Scale(factor/unit/unit, m.Meta.Missing.Prior)
	}
	x := f.Run.Point
	floats.Scale(unit, x[BlockC])
	floats.Scale(unit, x[BlockTau])
	for i := range x[BlockTheta] {
		x[BlockTheta][i] /= unit
	}
	for i := range f.Run.History {
		f.Run.History[i].Cost *= factor
	}
	if k := m.Meta.KKT; k != nil {
		root := 1 / math.Sqrt(unit) // as 1/unit may be no number
		k.C = rows.Product(k.C, factor, root, root)
		k.Q = rows.Product(k.Q, factor, 1)
		k.Theta = rows.Product(k.Theta, factor, unit)
		k.Tau = rows.Product(k.Tau, factor, root, root)
	}
	return f.Model.Validate() == nil && (framework.Point{{m.Meta.Objective, m.Meta.Penalty}}).Finite()
}

// dropColumns drops directions of curvature that cannot be used, or that a model does not use.
type dropColumns struct{}

func (dropColumns) apply(r *request) (undo, error) {
	switch {
	case r.model != nil:
		m := *r.model
		m.fromSheet(r.model.sheet().WithoutFlat())
		r.model = &m
	case r.config != nil:
		var notes []string
		r.columns, notes = r.config.curvature(r.data)
		r.notes = append(r.notes, notes...)
		return func(_ context.Context, out *results) {
			if out.fit != nil {
				m, s := out.fit.Model, r.columns.requested
				m.fromSheet(m.sheet().Pad(s))
				m.Meta.Curvature = s
			}
		}, nil
	}
	return nil, nil
}
