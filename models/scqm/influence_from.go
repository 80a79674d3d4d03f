package scqm

import (
	"context"
	"errors"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// ErrAllRows marks work that takes all rows in memory.
var ErrAllRows = errors.New("this takes all rows in memory")

// InfluenceFrom is [Model.Influence] for rows that need not be in memory, to the last bit:
// it reads them twice, [BlockRows] at a time, and hands over what it finds, in their order;
// what comes back has no Rows. It holds some P^2 numbers, whatever the number of rows.
//
// It fails with [ErrAllRows] where kinks of the loss must be rounded, which is a fit: losses
// by entry that have some, and those of the norm with residuals near 0 or with up to three
// directions off the sheet; where there are fewer rows than columns, where entries were
// missing, and where numbers are beyond 2^100 or below 2^-100.
func (m *Model) InfluenceFrom(ctx context.Context, src Source, threads int, take func(first int, list []RowInfluence) error) (*Influence, error) {
	r, err := m.responseFrom(ctx, &LocalEngine{Source: src, Loss: m.Loss, Threads: threads}, threads, m.Tau)
	if err != nil {
		return nil, err
	}
	out := &Influence{Remaining: r.Remaining}
	most, err := r.LeaveOut(ctx, src, 0, threads, take)
	out.addNotes(most, false)
	return out, err
}

// ResponseFrom finds the response of a fit to rows that an engine reads, once. Its loss
// must be that of the model. The limits are those of [Model.InfluenceFrom].
func (m *Model) ResponseFrom(ctx context.Context, e Engine) (*Response, error) {
	return m.responseFrom(ctx, e, 1, nil)
}

func (m *Model) responseFrom(ctx context.Context, e Engine, threads int, tau []float64) (*Response, error) {
	n, D := e.Shape()
	if err := m.accepts(Data{N: 1, D: D, X: make([]float64, D)}); err != nil {
		return nil, err
	}
	allRows := fmt.Errorf("scqm: influence of %d x %d rows under the loss %s: %w", n, D, m.Loss.Name(), ErrAllRows)
	if m.Meta.Missing != nil || n < D || m.alwaysRounds() {
		return nil, allRows
	}
	held, err := m.reserveInfluence(Data{N: min(n, BlockRows), D: D}, threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	r, o, err := m.newResponse(ctx, n)
	if err != nil {
		return nil, err
	}
	q := blocks.Request{N: n, D: D, Latent: m.Latent, S: r.model.Curvature, Unit: 1, Loss: blocks.Identity(m.Loss)}
	at := r.model.point(0)
	q.C, q.Q, q.Theta = at[BlockC], at[BlockQ], at[BlockTheta]
	if len(tau) == n*m.Latent {
		r.tau, q.Tau = tau, tau
	}
	q.ForJackknife(m.Loss)
	partial, err := e.Sum(ctx, &q)
	if err != nil {
		return nil, err
	}
	sums, _, err := q.Total(partial)
	if err != nil {
		return nil, err
	}
	of := q.JackknifeSums(sums)
	if err := m.sameObjective(of.Cost, of.Exact); err != nil {
		return nil, err
	}
	if !of.Unit || of.Touch {
		return nil, allRows
	}
	o.Lambda = m.penaltyFactor(o, at[BlockTheta])
	if err := r.jackknife.Factorize(of.Sums); err != nil {
		return nil, err
	}
	r.Remaining = r.jackknife.Remaining()
	return r, nil
}

// alwaysRounds reports whether the loss has kinks that are rounded whatever the residuals.
func (m *Model) alwaysRounds() bool {
	_, kinks := m.Loss.(framework.Smoother)
	_, radial := m.Loss.(framework.Radial)
	return kinks && (!radial || m.D-m.Latent <= objective.FewNormals)
}

// LeaveOut reads rows of the fit, of which the first has a number, [BlockRows] at a time,
// hands over their influences, and returns the largest. It is for one goroutine at a time.
func (r *Response) LeaveOut(ctx context.Context, src Source, first, threads int, take func(first int, list []RowInfluence) error) (most float64, err error) {
	n, D := src.Shape()
	if D != r.model.D || first < 0 || first > r.n-n {
		return 0, fmt.Errorf("scqm: influence of %d x %d rows from row %d on, of %d x %d: %w", n, D, first, r.n, r.model.D, ErrInput)
	}
	s := &leaving{ctx: ctx, r: r, src: src, first: first, n: n, threads: threads}
	list, out := make([]influence.Row, min(BlockRows, n)), make([]RowInfluence, min(BlockRows, n))
	for at := 0; at < n; at += BlockRows {
		if err := s.load(at); err != nil {
			return most, err
		}
		n := s.objective.Data().N
		if err := r.jackknife.LeaveOut(list[:n]); err != nil {
			return most, err
		}
		for i, row := range list[:n] {
			out[i] = RowInfluence(row)
			most = max(most, row.Move)
		}
		if err := take(first+at, out[:n]); err != nil {
			return most, err
		}
	}
	return most, nil
}

// leaving goes over rows, block by block.
type leaving struct {
	ctx             context.Context
	r               *Response
	src             Source
	first, n        int
	threads         int
	objective       *objective.Objective // of a block
	x, weights, tau []float64
}

// load makes the jackknife about the block from a row on.
func (s *leaving) load(at int) error {
	m := s.r.model
	f, n := m.sheet(), min(BlockRows, s.n-at)
	x := Data{N: n, D: m.D, First: s.first + at}
	if s.x == nil {
		s.x, s.tau = make([]float64, n*m.D), make([]float64, n*m.Latent)
	}
	x.X = s.x[:n*m.D]
	if err := s.src.ReadRows(s.ctx, x.X, at); err != nil {
		return err
	}
	if weigher, ok := s.src.(rows.Weigher); ok {
		if s.weights == nil {
			s.weights = make([]float64, n)
		}
		x.Weights = s.weights[:n]
		if err := weigher.ReadWeights(s.ctx, x.Weights, at); err != nil {
			return err
		}
	}
	if err := x.Validate(); err != nil {
		return err
	}
	if s.objective == nil || s.objective.Data().N != n {
		o, err := objective.New(s.ctx, x, m.Loss, f.Latent, f.S, s.threads)
		if err != nil {
			return err
		}
		s.objective = o
	}
	s.objective.SetData(x)
	tau := s.tau[:n*m.Latent]
	if s.r.tau != nil {
		copy(tau, s.r.tau[x.First*m.Latent:])
	} else if err := nearest.ProjectRows(s.ctx, tau, f, m.Loss, nil, x, nearest.Missing{}, s.threads); err != nil {
		return err
	}
	s.r.jackknife.Load(s.objective, tau)
	return nearest.RefineRows(s.ctx, tau, f, m.Loss, x, s.threads)
}
