package scqm

import (
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
)

// request holds the rows and settings of a fit, with the properties found for these rows.
type request struct {
	data      Data
	loss      framework.Loss
	config    *Config
	columns   int             // directions of curvature to fit
	notes     []string        // notes on the number of directions
	start     framework.Point // start of a loss that redescends; nil for robustStart
	screening *screening      // evidence for curvature; nil if it is not tested
	held      []*memory.Reservation
}

// release frees the memory reserved by reduce.
func (r *request) release() {
	for _, held := range r.held {
		held.Release()
	}
}

// reserve stores a memory reservation that release will free.
func (r *request) reserve(held *memory.Reservation, err error) error {
	if err == nil {
		r.held = append(r.held, held)
	}
	return err
}

// An undo maps the result and the error of a fit to reduced rows back to the original rows.
type undo func(ctx context.Context, fit *Fit, failure error) error

// unchanged is the undo of a fit whose rows were not reduced.
func unchanged(_ context.Context, _ *Fit, failure error) error { return failure }
