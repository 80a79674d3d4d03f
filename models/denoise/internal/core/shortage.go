package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Shortage is the error of valid settings for which there are too few rows, or no direction for noise. The rows then
// stay unchanged. It matches [ErrInput] for callers of a method itself.
type Shortage struct{ why string }

// Short returns a Shortage with the formatted message.
func Short(format string, args ...any) error { return &Shortage{fmt.Sprintf(format, args...)} }

// NoDirection returns the Shortage of a surface of dimension D in rows of length D: none is left for noise.
func NoDirection(m Method, D int) error {
	return Short("%s: a surface of dimension %d leaves no direction for noise in rows of that length", m.Name(), D)
}

// Error describes what is missing.
func (s *Shortage) Error() string { return "denoise: " + s.why }

// Unwrap returns ErrInput.
func (*Shortage) Unwrap() error { return ErrInput }

// Unchanged is a method that leaves rows unchanged because there are too few for another method.
type Unchanged struct {
	Of  Method
	Why string
}

// Instead returns Unchanged in place of a method whose Size or Choose failed with a Shortage; otherwise it returns
// the error.
func Instead(of Method, err error) (Unchanged, error) {
	if _, short := errors.AsType[*Shortage](err); short {
		return Unchanged{of, strings.TrimPrefix(err.Error(), "denoise: ") + "; the rows are as they came"}, nil
	}
	return Unchanged{}, err
}

// Name returns the name of the method.
func (m Unchanged) Name() string { return m.Of.Name() }

// Dimension returns the dimension of the replaced method.
func (m Unchanged) Dimension() int { return LatentOf(m.Of) }

// Size returns 1: the only neighbour is the row itself.
func (Unchanged) Size(int, int) (int, error) { return 1, nil }

// Prepare has nothing to do.
func (Unchanged) Prepare(context.Context, *Cloud, Options) (Fitted, error) {
	return PerWorker(func(context.Context) (Worker, error) { return idle{}, nil }), nil
}

// idle is a prepared method that finds no surface, so that all rows stay unchanged.
type idle struct{}

func (idle) Place(*Neighborhood, *Row) error { return ErrNoSurface }
func (idle) Project(dst, x []float64) error  { return ErrNoSurface }
