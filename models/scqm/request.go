package scqm

import (
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
)

// request is a fit, with what has been found out about its rows.
type request struct {
	data      Data
	loss      framework.Loss
	config    *Config
	columns   int             // directions of curvature to fit
	notes     []string        // on it
	start     framework.Point // of a loss that redescends; nil for robustStart
	screening *screening      // of its curvature; nil where that is not looked at
	held      []*memory.Reservation
}

// release frees the memory reserved by reduce.
func (r *request) release() {
	for _, held := range r.held {
		held.Release()
	}
}

// reserve records memory to free in release.
func (r *request) reserve(held *memory.Reservation, err error) error {
	if err == nil {
		r.held = append(r.held, held)
	}
	return err
}

// An undo maps the result of a fit to reduced rows, and its error, to those for the rows before.
type undo func(ctx context.Context, fit *Fit, failure error) error

// unchanged is the undo where nothing was reduced.
func unchanged(_ context.Context, _ *Fit, failure error) error { return failure }
