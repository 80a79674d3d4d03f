package scqm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
)

// FitMany fits a model to each of many sets of rows, such as the neighbourhoods of the points of a cloud, on
// c.Threads goroutines. It returns the fits in order. Each is bit-identical to that of [Learn], without the history
// of the run. Sets may have different numbers of rows, and under [AutoCurvature] models different numbers of
// directions. Errors name the set ([FitError]). If one set is invalid, none is fitted. See [Many] for more.
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

// Many holds the settings for fits to many sets of rows.
type Many struct {
	// Config holds the settings of every fit. Threads is the number of fits at a
	// time.
	Config
	// LossOf, if not nil, makes the loss of each set from its rows, and replaces Config.Loss. It is called from
	// several goroutines.
	LossOf func(x Data) (framework.Loss, error)
}

// FitError is the failure of one of many fits.
type FitError struct {
	Fit int // index of the set
	Err error
}

// Error names the fit and its error.
func (e *FitError) Error() string {
	return fmt.Sprintf("scqm: fit %d: %s", e.Fit, strings.TrimPrefix(strings.TrimPrefix(e.Err.Error(), "scqm: "), "fit: "))
}

// Unwrap returns the error of the fit.
func (e *FitError) Unwrap() error { return e.Err }

// Each fits a model to each of the sets and passes it to take, in no particular order and from several goroutines.
// All sets are checked before the first fit. If fits or calls of take fail, the error is that of the first set, in
// order.
func (m Many) Each(ctx context.Context, sets []Data, take func(i int, fit *Fit) error) error {
	for i, x := range sets {
		if err := m.check(x); err != nil {
			return &FitError{i, err}
		}
	}
	threads := par.Threads(m.Threads)
	m.Threads = 1
	var mu sync.Mutex
	first, failure := len(sets), error(nil) // the first set whose fit failed
	par.Do(threads, len(sets), func(_, i int) {
		mu.Lock()
		skipped := i > first
		mu.Unlock()
		if skipped {
			return
		}
		if err := m.fit(ctx, i, sets[i], take); err != nil {
			mu.Lock()
			defer mu.Unlock()
			if i < first {
				first, failure = i, err
			}
		}
	})
	switch {
	case failure == nil:
		return nil
	case ctx.Err() != nil && errors.Is(failure, ctx.Err()):
		return fmt.Errorf("scqm: many fits: %w", failure)
	}
	return &FitError{first, failure}
}

// check returns an error if the rows or the settings cannot be used.
func (m Many) check(x Data) error {
	x.Missing = m.IgnoreMissing
	if m.LossOf != nil {
		m.Loss = unknownLoss{}
	}
	if err := m.validate(x); err != nil {
		return err
	}
	return x.ValidateSpread()
}

// unknownLoss is a placeholder for a loss that LossOf will make.
type unknownLoss struct{ framework.Loss }

func (m Many) fit(ctx context.Context, i int, x Data, take func(i int, fit *Fit) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.LossOf != nil {
		loss, err := m.LossOf(x)
		if err != nil {
			return err
		}
		m.Loss = loss
	}
	fit, err := Learn(ctx, x, m.Config)
	if err != nil {
		return err
	}
	if fit.Run.Status == framework.Cancelled {
		return context.Cause(ctx)
	}
	fit.Run.History = nil
	return take(i, fit)
}
