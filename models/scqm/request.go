package scqm

import (
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
)

// request is a computation on rows: a fit, where it has a config, the influence of rows, where it has a model
// fitted to them, or a comparison of models, where it has neither.
type request struct {
	data      Data
	loss      framework.Loss
	config    *Config
	model     *Model
	columns   curvatures      // of a fit
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

// results are the results of a request: a fit and its error, or numbers in the unit of the data and in its
// inverse.
type results struct {
	fit              *Fit
	failure          error
	lengths, inverse []*float64
}

// A reduction replaces a request by an equivalent one that is smaller or better scaled. It returns the function
// that maps the results back, nil where none is needed.
type reduction interface {
	apply(r *request) (undo, error)
}

type undo func(ctx context.Context, out *results)
