package alternating

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Average is the running average of the moments of several sweeps, each over a part of the rows at its own sheet:
// stochastic majorization-minimization.
//
// Source: J. Mairal, Stochastic majorization-minimization algorithms for large-scale
// optimization, NIPS 26 (2013), for averages of majorizers.
type Average struct {
	f       *sheet.Sheet // of the last draw
	unit    float64
	outer   *Outer
	origin  []float64 // centre to which the moments refer
	moments *Moments
	work    *Moments
	by      []float64
}

// NewAverage returns an empty average for sheets of the shape of f, with moments about its centre; unit is h.
func NewAverage(f *sheet.Sheet, unit float64) *Average {
	return &Average{
		f: f, unit: unit, outer: NewOuter(f, unit), origin: slices.Clone(f.C),
		moments: NewMoments(f), work: NewMoments(f), by: make([]float64, f.D),
	}
}

// Add adds the sums of a sweep at x, times scale, with weight rate. It multiplies earlier sums by 1 - rate.
func (a *Average) Add(x framework.Point, sums []float64, rate, scale float64) {
	a.f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	floats.SubTo(a.by, a.f.C, a.origin)
	copy(a.work.Sums, sums)
	a.work.shift(a.by)
	floats.Scale(1-rate, a.moments.Sums)
	floats.AddScaled(a.moments.Sums, rate*scale, a.work.Sums)
}

// Minimize writes the sheet that minimises the average into next.
func (a *Average) Minimize(next framework.Point, penalty objective.Regularizer) {
	copy(a.work.Sums, a.moments.Sums)
	floats.SubTo(a.by, a.origin, a.f.C)
	a.work.shift(a.by)
	a.outer.Solve(next, a.work, penalty)
}

// AverageState is the stored state of an [Average].
type AverageState struct{ Origin, Moments []float64 }

// State returns a copy of the state.
func (a *Average) State() AverageState {
	return AverageState{slices.Clone(a.origin), slices.Clone(a.moments.Sums)}
}

// Restore sets the state. It returns false if the lengths do not match the shape of the sheet, or numbers are not
// finite.
func (a *Average) Restore(s AverageState) bool {
	if len(s.Origin) != len(a.origin) || len(s.Moments) != len(a.moments.Sums) || !(framework.Point{s.Origin, s.Moments}).Finite() {
		return false
	}
	copy(a.origin, s.Origin)
	copy(a.moments.Sums, s.Moments)
	return true
}

// Weight returns the average of the total weights of the sweeps.
func (a *Average) Weight() float64 { return a.moments.weight() }

// Cost returns the average of the costs of the sweeps, each at its own sheet.
func (a *Average) Cost() float64 { return a.moments.cost() }

// Turned returns 2d rows of tau whose weighted second moments about 0 equal the averaged moments. It returns nil if the
// total weight is 0.
func (a *Average) Turned() []float64 {
	d := a.f.Latent
	if !(a.Weight() > 0) {
		return nil
	}
	squares := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			squares.SetSym(i, j, a.moments.pairs(i)[j]*a.unit*a.unit/a.Weight())
		}
	}
	return sheet.Scatter(make([]float64, d), squares)
}
