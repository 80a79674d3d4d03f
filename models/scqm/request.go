package scqm

import (
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
)

// request is a computation on rows: a fit, where it has a config, the influence
// of rows, where it has a model that was fitted to them, or a comparison of
// models, where it has neither.
type request struct {
	data      Data
	loss      framework.Loss
	config    *Config
	model     *Model
	columns   curvatures // of a fit
	notes     []string   // on it
	screening *screening // of its curvature; nil where that is not looked at
	held      []*memory.Reservation
}

// release gives back the memory reserved by reduce.
func (r *request) release() {
	for _, held := range r.held {
		held.Release()
	}
}

// reserve takes note of memory held until release.
func (r *request) reserve(held *memory.Reservation, err error) error {
	if err == nil {
		r.held = append(r.held, held)
	}
	return err
}

// results are what a request came to: a fit and its failure, or numbers in the
// unit of the data and in one over it.
type results struct {
	fit              *Fit
	failure          error
	lengths, inverse []*float64
}

// A reduction replaces a request by an equivalent one that is smaller or better
// scaled. It returns what carries the results back, nil where nothing has to be.
type reduction interface {
	apply(r *request) (undo, error)
}

type undo func(ctx context.Context, out *results)
