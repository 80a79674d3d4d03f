package scqm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
)

// FitMany fits a model to each of many small sets of rows, such as the
// neighbourhoods of the points of a cloud, and returns the fits in order: what
// [Learn] returns for each, without the history of its run and what speaks for its
// curvature. Sets may have
// different numbers of rows. Errors name the set ([FitError]); no set is fitted
// where one cannot be used. See [Many] for more.
//
// The result does not depend on c.Threads. Sets of few columns are fitted to the same certificate in a half to a fifth of
// the time of Learn, by losses with kinks at ridges from 1 on where sheets bend no more than their extent; other sheets under such losses
// are Learn's. Where the cost has several minima, one fit in 100 of noisy rows ends in another of them than Learn.
func FitMany(ctx context.Context, sets []Data, c Config) ([]*Fit, error) {
	fits := make([]*Fit, len(sets))
	err := Many{Config: c}.Each(ctx, sets, func(i int, fit *Fit) error {
		fits[i] = fit
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fits, nil
}

// Many says how to fit models to many sets of rows.
type Many struct {
	// Config holds the settings of every fit. Threads is the number of fits at a
	// time.
	Config
	// LossOf makes the loss of each set from its rows, in place of Config.Loss, where
	// it is not nil. It is called from several goroutines.
	LossOf func(x Data) (framework.Loss, error)
	// Rough ends a fit where a [Fitter] does, with the first iteration that lowers the
	// cost by no more than a millionth of itself, and leaves rows where they are on the
	// sheet. Losses with kinks are rounded, down to a millionth of a typical residual.
	// Status is then framework.Stalled where the residual is above the tolerance,
	// without a warning.
	Rough bool
}

// FitError is the failure of one of many fits.
type FitError struct {
	Fit int // its number
	Err error
}

// Error names the fit before what is wrong with it.
func (e *FitError) Error() string {
	return fmt.Sprintf("scqm: fit %d: %s", e.Fit, strings.TrimPrefix(strings.TrimPrefix(e.Err.Error(), "scqm: "), "fit: "))
}

// Unwrap returns what is wrong.
func (e *FitError) Unwrap() error { return e.Err }

// Each fits a model to each of the sets and hands it to take, in no particular order
// and from several goroutines. Sets are checked before any is fitted. Where fits fail,
// or take does, the error is that of the first set in their order.
func (m Many) Each(ctx context.Context, sets []Data, take func(i int, fit *Fit) error) error {
	if m.Curvature == AutoCurvature { // fits of many sets have one shape
		m.Curvature = FullCurvature
	}
	for i := range sets {
		if err := m.check(&sets[i]); err != nil {
			return &FitError{i, err}
		}
	}
	threads := min(par.Threads(m.Threads), len(sets))
	m.Threads = 1
	workers, failures := make([]smallFits, max(threads, 1)), make([]error, len(sets))
	stopped := make(chan struct{}, len(sets))
	par.Do(threads, len(sets), func(worker, i int) {
		if len(stopped) > 0 {
			return
		}
		if failures[i] = workers[worker].fit(ctx, &m, i, sets[i], take); failures[i] != nil {
			stopped <- struct{}{}
		}
	})
	for i, err := range failures {
		if err == nil {
			continue
		}
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return fmt.Errorf("scqm: many fits: %w", err)
		}
		return &FitError{i, err}
	}
	return nil
}

// check refuses rows and settings that cannot be used, which for rows are checked
// here once for all.
func (m *Many) check(x *Data) error {
	x.Missing = m.IgnoreMissing
	c := m.Config
	if m.LossOf != nil {
		c.Loss = unknownLoss{}
	}
	if err := c.validate(*x); err != nil {
		return err
	}
	return x.ValidateSpread()
}

// unknownLoss stands for a loss that is made later.
type unknownLoss struct{ framework.Loss }

func (w *smallFits) fit(ctx context.Context, m *Many, i int, x Data, take func(i int, fit *Fit) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := m.Config
	if m.LossOf != nil {
		loss, err := m.LossOf(x)
		if err != nil {
			return err
		}
		c.Loss = loss
	}
	fit, err := w.small(ctx, m, c, x)
	if err == nil && fit == nil {
		fit, err = Learn(ctx, x, c)
	}
	if err != nil {
		return err
	}
	if fit.Run.Status == framework.Cancelled {
		return context.Cause(ctx)
	}
	fit.Run.History = nil
	return take(i, fit)
}

// small fits by the Fitter, or returns nil where Learn has more to do.
func (w *smallFits) small(ctx context.Context, m *Many, c Config, x Data) (*Fit, error) {
	if !plain(c, x) || kinked(c.Loss) && c.ridge() < gentleRidge && !m.Rough {
		return nil, nil
	}
	if w.fitters == nil && !w.refused || w.n != x.N || w.D != x.D || m.LossOf != nil {
		if err := w.prepare(ctx, m, c, x); err != nil {
			return nil, err
		}
	}
	if w.refused {
		return nil, nil
	}
	if m.Rough {
		return w.rough(c, x)
	}
	if kinked(c.Loss) {
		return w.gentle(c, x)
	}
	return w.certified(c, x)
}

// prepare makes the Fitters for sets of the shape of x.
func (w *smallFits) prepare(ctx context.Context, m *Many, c Config, x Data) error {
	w.n, w.D, w.fitters, w.refused = x.N, x.D, nil, false
	w.columns, w.notes = c.curvature(x)
	fromGraph := c.ridge() >= graphRidge && w.columns.fitted > 0 && !m.Rough && !kinked(c.Loss)
	chosen := []framework.Solver{smallSolver}
	if c.ridge() < graphRidge {
		chosen[0] = bentSolver
	}
	switch {
	case m.Rough:
		chosen = []framework.Solver{c.Solver}
	case kinked(c.Loss):
		chosen = []framework.Solver{gentleSolver(c.Loss, x.D)}
	case fromGraph:
		chosen = []framework.Solver{graphSolver, smallSolver}
	}
	for i, solver := range chosen {
		c.Solver = solver
		fitter, err := NewFitter(ctx, x.N, x.D, c)
		if w.refused = errors.Is(err, ErrInput); w.refused {
			return nil
		}
		if err != nil {
			return err
		}
		if kinked(c.Loss) && !m.Rough && !manyMinima(c.Loss, x.D) {
			fitter.evaluator.GoByFirstOrder()
		}
		if fromGraph && i == 0 {
			fitter.graph = newGraph(fitter.problem.Shape())
		}
		w.fitters = append(w.fitters, fitter)
	}
	return nil
}
