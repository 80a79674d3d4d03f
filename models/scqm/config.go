package scqm

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// Config defines how to fit a model. Latent and Loss are required. The zero value of every other field selects the
// default.
type Config struct {
	// Latent is d, the dimension of the sheet, 1 <= d <= D.
	Latent int
	// Curvature is s, the number of directions of curvature. [AutoCurvature] estimates it from the rows (see
	// [CurvatureMeta]). [FullCurvature] stands for min(d(d+1)/2, D-d); a larger s is reduced to this number.
	Curvature int
	// Linear fits a flat sheet: Theta stays 0.
	Linear bool
	// Loss is the loss function of a residual row.
	Loss framework.Loss
	// Solver is the algorithm; nil chooses one.
	Solver framework.Solver
	// Ridge is the scale-free curvature penalty: Lambda of the
	// [Problem] is Ridge * (F_lin / n) * h2, with F_lin the objective of the
	// principal component start and h2 the mean squared distance of the rows
	// from their mean. 0 stands for [DefaultRidge], [NoRidge] for none, which is
	// the objective of the paper, and [AutoRidge] for one of 0.001, 0.01, 0.1, 1
	// and 10 chosen by cross-validation. A flat sheet has none.
	Ridge float64
	// Inits is the number of starts, of which the best result is kept; 0 stands for 1. The first start is the plane
	// from which a regression predicts the other principal scores best. The next starts are other such planes, then
	// random rotations of the leading components. Successive halving runs all starts for a few evaluations, and the
	// best two and the first to the end. With Inits = 1 the start is the best of several planes that are nearly
	// equally good.
	Inits int
	// Seed makes random choices reproducible.
	Seed uint64
	// Threads bounds the goroutines; below 1 stands for all processors. The
	// result does not depend on it.
	Threads int
	// IgnoreMissing treats NaN entries as missing, with weight zero. The loss must be a sum over entries (see
	// [losses.ByEntry]); huber is applied to each entry.
	IgnoreMissing bool
	// Options are the limits of the run. With [solvers.RGD], the default of MinRelativeDecrease is 1e-10.
	Options framework.Options
}

// Values of [Config].Curvature.
const (
	// AutoCurvature estimates the number of directions of curvature from the rows. The estimate may be 0.
	AutoCurvature = 0
	// FullCurvature is the largest possible number of directions.
	FullCurvature = -1
)

// Values of [Config].Ridge.
const (
	// DefaultRidge is the value that 0 stands for. It weighs about as much as a thousandth of a row. Without a ridge
	// the objective of many tables has no minimum, because curvature grows without bound.
	DefaultRidge = 1e-3
	// NoRidge stands for no penalty.
	NoRidge = -1
	// AutoRidge stands for a ridge chosen by cross-validation.
	AutoRidge = -2
)

func (c Config) validate(x Data) error {
	if err := x.Validate(); err != nil {
		return err
	}
	if err := x.ValidateColumns(); err != nil {
		return err
	}
	if err := rows.ValidateSize(x.Size()); err != nil {
		return err
	}
	return c.check(x.D)
}

// check returns an error for settings that do not fit rows of length D, or contradict each other.
func (c Config) check(D int) error {
	switch {
	case c.Loss == nil:
		return fmt.Errorf("scqm: no loss given: %w", ErrInput)
	case c.Latent < 1 || c.Latent > D:
		return fmt.Errorf("scqm: latent dimension %d does not fit rows of length %d; want 1 to %d: %w", c.Latent, D, D, ErrInput)
	case c.Curvature < FullCurvature:
		return fmt.Errorf("scqm: curvature dimension %d is negative: %w", c.Curvature, ErrInput)
	case c.Inits < 0:
		return fmt.Errorf("scqm: number of starts %d is negative: %w", c.Inits, ErrInput)
	case !(c.Ridge >= 0 || c.Ridge == NoRidge || c.Ridge == AutoRidge) || math.IsInf(c.Ridge, 0):
		return fmt.Errorf("scqm: ridge is %v, want a finite number of at least 0: %w", c.Ridge, ErrInput)
	}
	if c.Inits > 1 && c.Options.Checkpoint != nil {
		return fmt.Errorf("scqm: %d starts cannot be stored in one checkpoint; want 1: %w", c.Inits, ErrInput)
	}
	return nil
}

// ruled reports whether the number of directions of curvature is estimated from the rows. It is not with the solver of
// the paper, which fits the model exactly as the paper defines it.
func (c Config) ruled() bool {
	_, published := c.Solver.(solvers.RGD)
	return c.Curvature == AutoCurvature && !c.Linear && !published
}

// ridgeOf returns the ridge of a sheet with s directions of curvature, which is 0 for a flat sheet.
func (c Config) ridgeOf(s int) float64 {
	if s == 0 {
		return 0
	}
	return c.ridge()
}

// ridge returns Ridge as a number: DefaultRidge in place of 0, and 0 for NoRidge and for a flat sheet.
func (c Config) ridge() float64 {
	switch {
	case c.Linear || c.Ridge == NoRidge:
		return 0
	case c.Ridge == 0:
		return DefaultRidge
	}
	return c.Ridge
}

// room returns the largest number of directions of curvature of a sheet in R^D.
func (c Config) room(D int) int { return min(sheet.VechLen(c.Latent), D-c.Latent) }

// curvature returns s, with notes on its choice. s is at most D - d and at most d(d+1)/2, the rank of V Theta'.
func (c Config) curvature(x Data) (s int, notes []string) {
	most := c.room(x.D)
	switch {
	case c.Linear:
		return 0, nil
	case c.Curvature > most:
		notes = append(notes, fmt.Sprintf("s = %d was reduced to %d, the smaller of d(d+1)/2 and D - d", c.Curvature, most))
	case c.Curvature > 0:
		most = c.Curvature
	}
	if note := c.overfits(x, most); note != "" && !c.ruled() {
		notes = append(notes, note)
	}
	return most, notes
}

// overfits returns a warning if the number of parameters of the sheet exceeds half of the degrees of freedom that
// remain after every row has used d of them for its tau. n rows span at most n-1 dimensions, which bounds the degrees
// of freedom of a row.
func (c Config) overfits(x Data, s int) string {
	if c.ridge() > DefaultRidge || s == 0 {
		return ""
	}
	columns := min(x.D, x.N-1)
	numbers, left := columns*(1+c.Latent+s)+sheet.VechLen(c.Latent)*s, x.N*(columns-c.Latent)
	if 2*numbers <= left {
		return ""
	}
	return fmt.Sprintf("the sheet has %d numbers and the data leave %d to determine them, so that it follows noise: use a larger ridge, a smaller d or s, or more rows", numbers, max(left, 0))
}
