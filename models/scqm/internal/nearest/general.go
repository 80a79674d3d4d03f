package nearest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// General minimises the loss of every row over its tau by damped Newton steps, for any loss. The losses of a batch of
// rows are evaluated together; one row is a batch of one. A step of a row takes one loss with two derivatives, and
// one loss for each step length tried.
type General struct {
	// Steps bounds the steps of a row. Tries bounds the step lengths that are tried in each step.
	Steps, Tries int
	// Decrease and Precision define convergence of a row: the decrease of its loss, relative to the loss, and the
	// length of a step, relative to tau.
	Decrease, Precision float64

	d                 int
	trial             []float64 // n x d
	cost, tried       []float64 // n
	slope, length     []float64 // n
	grad, step        []float64 // n x d
	hess              []float64 // n x d x d
	active, searching []int     // rows
}

// Work counts row evaluations: Derivatives those of the loss with both derivatives, Losses those of the loss alone.
type Work struct{ Derivatives, Losses int }

// NewGeneral returns a General for up to n rows of d latent coordinates.
func NewGeneral(n, d int) *General {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &General{
		Steps: maxNewton, Tries: Tries, Precision: precision, d: d,
		trial: vec(n * d), cost: vec(n), tried: vec(n), slope: vec(n), length: vec(n),
		grad: vec(n * d), step: vec(n * d), hess: vec(n * d * d),
	}
}

// maxNewton bounds the Newton steps of one row at one smoothing length.
const maxNewton = 40

// Cost returns the losses of all rows after Minimize.
func (s *General) Cost() []float64 { return s.cost }

// Minimize moves the rows of tau, each of d coordinates, in place. There may be at most as many rows as NewGeneral was
// given. evaluate computes losses, and derivatives with respect to tau, of the listed rows.
func (s *General) Minimize(tau []float64, evaluate func(to RowResults, tau []float64, list []int) error) (work Work, err error) {
	s.active = s.active[:0]
	for i := range len(tau) / s.d {
		s.active = append(s.active, i)
	}
	copy(s.trial, tau)
	for range s.Steps {
		if len(s.active) == 0 {
			break
		}
		if err := evaluate(RowResults{Costs: s.cost, Grad: s.grad, Hess: s.hess}, tau, s.active); err != nil {
			return work, err
		}
		work.Derivatives += len(s.active)
		s.direct()
		tried, err := s.search(tau, evaluate)
		work.Losses += tried
		if err != nil {
			return work, err
		}
	}
	return work, nil
}

// direct computes the Newton steps of the active rows, and drops rows without a descent direction.
func (s *General) direct() {
	d := s.d
	s.active = slices.DeleteFunc(s.active, func(i int) bool {
		g, step := s.grad[i*d:(i+1)*d], s.step[i*d:(i+1)*d]
		dense.NewtonStep(step, s.hess[i*d*d:(i+1)*d*d], g, dense.Flat)
		s.slope[i], s.length[i] = floats.Dot(g, step), 1
		return !(s.slope[i] < 0) || math.IsInf(s.slope[i], 0)
	})
}

// search shortens the steps of the active rows until each satisfies Armijo's rule, and drops rows that have
// converged.
func (s *General) search(tau []float64, evaluate func(to RowResults, tau []float64, list []int) error) (tried int, err error) {
	d := s.d
	s.searching = append(s.searching[:0], s.active...)
	s.active = s.active[:0]
	for try := range s.Tries {
		if len(s.searching) == 0 {
			break
		}
		for _, i := range s.searching {
			floats.AddScaledTo(s.trial[i*d:(i+1)*d], tau[i*d:(i+1)*d], s.length[i], s.step[i*d:(i+1)*d])
		}
		if err := evaluate(RowResults{Costs: s.tried}, s.trial, s.searching); err != nil {
			return tried, err
		}
		tried += len(s.searching)
		s.searching = slices.DeleteFunc(s.searching, func(i int) bool {
			old, now := s.cost[i], s.tried[i]
			if !Accepts(old, now, s.length[i], s.slope[i], try == 0) {
				s.length[i] = Shorten(s.length[i], old, now, s.slope[i])
				return false
			}
			at := tau[i*d : (i+1)*d]
			copy(at, s.trial[i*d:(i+1)*d])
			s.cost[i] = now
			if old-now > s.Decrease*math.Abs(old) && floats.Norm(s.step[i*d:(i+1)*d], 2) > s.Precision*floats.Norm(at, 2) {
				s.active = append(s.active, i)
			}
			return true
		})
	}
	return tried, nil
}

const (
	// Armijo is the fraction of the predicted reduction that a step must attain.
	Armijo = 1e-4
	// Rounding is the relative rounding error of a computed value.
	Rounding = 0x1p-50
	// Tries bounds the step lengths tried in a minimisation. InnerTries bounds those in an inner step of a fit.
	Tries, InnerTries = 40, 4
)

// Accepts is Armijo's rule for a step of length t, given the slope at length 0. A full step, the first trial, is also
// accepted if the value is equal up to rounding: close to a minimum it still improves the argument.
func Accepts(value, next, t, slope float64, first bool) bool {
	return next <= value+Armijo*t*slope || first && next <= value+Rounding*math.Abs(value)
}

// Shorten returns the step length to try after a rejected one. It is the minimum of the parabola through both values
// and the slope, limited to between a tenth and a half of the rejected length.
//
// Source: J. E. Dennis, R. B. Schnabel, Numerical Methods for Unconstrained Optimization and Nonlinear
// Equations, algorithm A6.3.1.
func Shorten(t, value, next, slope float64) float64 {
	lowest := -slope * t * t / (2 * (next - value - slope*t))
	if !(lowest <= t/2) {
		lowest = t / 2
	}
	return math.Max(lowest, t/10)
}
