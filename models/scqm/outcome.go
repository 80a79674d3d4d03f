package scqm

import (
	"context"
	"errors"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Fit is the result of fitting a model.
type Fit struct {
	// Model is in canonical form; its Meta describes the fit.
	Model *Model
	// Run is the report of the solver on its run.
	Run *framework.Result
	// Reads is the number of reads of all rows by [LearnFrom].
	Reads int
}

// cancel marks a fit as cancelled after its run, as its report is incomplete.
func (f *Fit) cancel(message string) {
	f.Run.Status, f.Run.Message = framework.Cancelled, message
	f.Model.Meta.Status, f.Model.Meta.Message = f.Run.Status.String(), message
}

// A learner fits models to parts of the rows.
type learner func(ctx context.Context, x Data, c Config) (*Fit, error)

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
