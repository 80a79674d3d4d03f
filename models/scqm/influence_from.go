package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// ErrAllRows marks work that takes all rows in memory.
var ErrAllRows = errors.New("this takes all rows in memory")

// InfluenceFrom is [Model.Influence] for rows without weights that need not be in memory, to
// the last bit: it reads them twice, [BlockRows] at a time, and hands over what it finds, in
// their order; what comes back has no Rows. Beside P^2 numbers it holds one number for every
// row where the loss has a kink.
//
// It fails with [ErrAllRows] where kinks of the loss must be rounded, which is a fit: losses
// by entry that have some, and those of the norm with residuals near 0 or with up to three
// directions off the sheet; where there are fewer rows than columns, where entries were
// missing, and where numbers are beyond 2^100 or below 2^-100.
func (m *Model) InfluenceFrom(ctx context.Context, src Source, threads int, take func(first int, list []RowInfluence) error) (*Influence, error) {
	n, D := src.Shape()
	origin := Data{N: 1, D: D, X: make([]float64, D)}
	if err := src.ReadRows(ctx, origin.X, 0); err != nil {
		return nil, err
	}
	if err := m.accepts(origin); err != nil {
		return nil, err
	}
	_, weighted := src.(rows.Weigher)
	if x, ok := src.(Data); ok {
		weighted = x.Weights != nil
	}
	if weighted || m.Meta.Missing != nil || n < D || m.alwaysRounds() {
		return nil, fmt.Errorf("scqm: influence of %d x %d rows under the loss %s: %w", n, D, m.Loss.Name(), ErrAllRows)
	}
	held, err := m.reserveInfluence(Data{N: min(n, BlockRows), D: D}, threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	r := request{model: m}
	if _, err := (dropColumns{}).apply(&r); err != nil {
		return nil, err
	}
	s := &influenceStream{ctx: ctx, m: r.model, src: src, n: n, threads: threads, origin: origin.X, exact: true}
	if err := s.assemble(); err != nil {
		return nil, err
	}
	out := &Influence{Remaining: s.jackknife.Remaining()}
	most, err := s.leaveOut(take)
	out.addNotes(most, false)
	return out, err
}

// alwaysRounds reports whether the loss has kinks that are rounded whatever the residuals.
func (m *Model) alwaysRounds() bool {
	_, kinks := m.Loss.(framework.Smoother)
	_, radial := m.Loss.(framework.Radial)
	return kinks && (!radial || m.D-m.Latent <= objective.FewNormals)
}

// influenceStream computes influences block by block.
type influenceStream struct {
	ctx     context.Context
	m       *Model
	src     Source
	n       int
	threads int
	origin  []float64 // the first row

	objective *objective.Objective // of a block
	at        framework.Point      // the sheet, and the coordinates of a block
	jackknife *influence.Jackknife

	// What the first read says of all rows.
	cost     float64
	exact    bool      // all residuals are rounding errors
	farthest float64   // the largest entry of a row less the first one
	sizes    []float64 // of residuals, where the loss has a kink
}

// assemble reads all rows, and prepares the jackknife.
func (s *influenceStream) assemble() error {
	for first := 0; first < s.n; first += BlockRows {
		if err := s.load(first); err != nil {
			return err
		}
		if err := s.examine(); err != nil {
			return err
		}
		if err := s.refine(); err != nil {
			return err
		}
		if err := s.measure(); err != nil {
			return err
		}
		if err := s.jackknife.Add(s.ctx, float64(s.n)); err != nil {
			return err
		}
	}
	if err := s.judge(); err != nil {
		return err
	}
	return s.jackknife.Factorize()
}

// leaveOut reads all rows, hands over their influences, and returns the largest.
func (s *influenceStream) leaveOut(take func(first int, list []RowInfluence) error) (most float64, err error) {
	list, out := make([]influence.Row, min(BlockRows, s.n)), make([]RowInfluence, min(BlockRows, s.n))
	for first := 0; first < s.n; first += BlockRows {
		if err := s.load(first); err != nil {
			return most, err
		}
		if err := s.refine(); err != nil {
			return most, err
		}
		n := s.objective.Data().N
		if err := s.jackknife.LeaveOut(list[:n]); err != nil {
			return most, err
		}
		for i, row := range list[:n] {
			out[i] = RowInfluence(row)
			most = max(most, row.Move)
		}
		if err := take(first, out[:n]); err != nil {
			return most, err
		}
	}
	return most, nil
}

// load makes the objective that of the block from a row on, with the coordinates that the
// model gives to its rows.
func (s *influenceStream) load(first int) error {
	x := Data{N: min(BlockRows, s.n-first), D: len(s.origin), First: first}
	f := s.m.sheet()
	if s.objective != nil && s.objective.Data().N == x.N {
		x.X = s.objective.Data().X
	} else {
		x.X = make([]float64, x.N*x.D)
	}
	if err := s.src.ReadRows(s.ctx, x.X, first); err != nil {
		return err
	}
	if err := x.Validate(); err != nil {
		return err
	}
	if s.objective != nil && s.objective.Data().N == x.N {
		s.objective.SetData(x)
	} else {
		o, err := objective.New(s.ctx, x, s.m.Loss, f.Latent, f.S, s.threads)
		if err != nil {
			return err
		}
		o.Lambda = s.m.penaltyFactor(o, f.Theta)
		s.objective = o
		s.at = framework.Point{f.C, make([]float64, f.D*f.M), f.Theta, make([]float64, x.N*f.Latent)}
		dense.Transpose(s.at[BlockQ], f.QT, f.M, f.D)
	}
	tau := s.at[BlockTau]
	if of := s.m.Tau; len(of) == s.n*f.Latent {
		copy(tau, of[first*f.Latent:])
		return nil
	}
	return nearest.ProjectRows(s.ctx, tau, f, s.m.Loss, nil, x, nearest.Missing{}, s.threads)
}

// examine adds the losses of a block, at the coordinates of the model.
func (s *influenceStream) examine() error {
	cost, err := s.objective.Evaluate(nil, s.at)
	if err != nil {
		return err
	}
	terms, err := s.objective.GradientTerms()
	s.cost += cost - s.objective.Penalty(nil, s.at[BlockTheta])
	s.exact = s.exact && terms.Exact()
	for i := range s.objective.Data().N {
		s.farthest = max(s.farthest, floats.Distance(s.objective.Data().Row(i), s.origin, math.Inf(1)))
	}
	return err
}

// refine takes the coordinates of a block to minima.
func (s *influenceStream) refine() error {
	x, tau := s.objective.Data(), s.at[BlockTau]
	if err := nearest.RefineRows(s.ctx, tau, s.m.sheet(), s.m.Loss, *x, s.threads); err != nil {
		return err
	}
	if s.jackknife != nil {
		s.jackknife.Load(s.objective, tau)
		return nil
	}
	var err error
	s.jackknife, err = influence.Begin(s.objective, s.at)
	return err
}

// measure takes note of the residuals of a block, where the loss has a kink.
func (s *influenceStream) measure() error {
	if _, kinks := s.m.Loss.(framework.Smoother); !kinks {
		return nil
	}
	sizes, err := s.objective.ResidualSizes(s.at)
	s.sizes = append(s.sizes, sizes...)
	return err
}

// judge refuses rows that the model was not fitted to, and those that take more than two
// reads.
func (s *influenceStream) judge() error {
	if err := s.m.sameObjective(s.cost, s.exact); err != nil {
		return err
	}
	slices.Sort(s.sizes)
	if rows.UnitOf(s.farthest) != 1 || len(s.sizes) > 0 && objective.Touch(s.sizes) {
		return fmt.Errorf("scqm: influence of these rows under the loss %s: %w", s.m.Loss.Name(), ErrAllRows)
	}
	return nil
}
