package scqm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Fit is the outcome of fitting a model.
type Fit struct {
	// Model is in canonical form; its Meta describes the fit.
	Model *Model
	// Run is what the solver reports.
	Run *framework.Result
	// Reads is the number of times that all rows were read, by [LearnFrom].
	Reads int
}

// tooLate is the error of a fit whose time was over before there was a model with a cost.
type tooLate struct{ limit time.Duration }

func (e tooLate) Error() string {
	return fmt.Sprintf("scqm: the time limit of %v was over before the rows were read often enough for a first model; allow more time, or fit some of the rows", e.limit)
}

// Unwrap makes errors.Is find context.DeadlineExceeded.
func (e tooLate) Unwrap() error { return context.DeadlineExceeded }

// late reports whether the time limit of the settings caused an error.
func (c Config) late(ctx context.Context, err error) bool {
	return errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && c.Options.OutOfTime()
}

// lateError returns err, described where the time limit caused it.
func (c Config) lateError(ctx context.Context, err error) error {
	if c.late(ctx, err) {
		return tooLate{c.Options.TimeLimit}
	}
	return err
}

// fitError describes a failure of a fit, at its start or later.
func fitError(failure error, atStart bool) error {
	if fault, ok := failure.(*objective.LossError); ok {
		return fault
	}
	switch {
	case failure == nil:
		return nil
	case atStart && errors.Is(failure, framework.ErrNonFinite):
		return rows.ErrOverflow
	default:
		return fmt.Errorf("scqm: fit: %w", failure)
	}
}
