package scqm

import (
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// A fit under a loss r'Mr to rows that span less than R^D. With E = sum_i w_i r_i z_i', which is of the span of
// the rows and Q, and Omega symmetric, Q is stationary where
//
//	M E = -Q Omega.
//
// Rescaling and turning U, and V, is undone by tau and Theta, but for the penalty: Omega is small beside S = sum_i w_i z_i z_i', where
// it holds U and V perpendicular. So the part of Q outside of the span of the rows is small, and is found by few products with M^-1.
// The fit takes place in the span; what ME has outside, and M^-1 of that, again and again, widens it, until nothing
// outside is left to be gained.

const (
	// inverses is the number of times that M^-1 is applied each time that the span is widened.
	inverses = 2
	// coarse is the tolerance of fits in a span that is to be widened.
	coarse = 1e-3
)

// wideningAxes are the axes of a fit, with M and its tridiagonal form among them.
type wideningAxes struct {
	*rows.FormAxes
	m    *dense.Positive
	of   framework.Loss
	form *dense.Tridiagonal

	beyond []float64 // m x D: see gradient
	norm   float64   // of the gradient there
}

// coordinates returns the rows and the loss in the axes.
func (a *wideningAxes) coordinates() (Data, framework.Loss) {
	var x Data
	x, a.form = a.Rows()
	return x, nearest.NewTridiagonalForm(a.form, a.of)
}

// first returns the limits of the run that is to be gone on with in more axes.
func (a *wideningAxes) first(o framework.Options) framework.Options {
	if a == nil {
		return o
	}
	o.FirstOrder, o.CheckEvery = true, 5
	o.Tolerance = math.Max(o.Tolerance, coarse)
	return o
}

// gradient computes what the gradient in Q of a problem has outside of the axes, and returns the stationarity with it.
func (a *wideningAxes) gradient(p *Problem, x framework.Point) ([]float64, error) {
	s := p.Shape()
	inside := make([]float64, len(x[BlockQ]))
	if _, err := p.Evaluate(framework.Point{BlockQ: inside, BlockTau: nil}, x); err != nil {
		return nil, err
	}
	_, D := a.Dims()
	a.beyond = dense.Grow(a.beyond, s.M*D)
	if f, definite := a.form.Factor(); definite {
		f.Solve(inside, s.M) // the gradient is 2ME: this is 2E
		a.Outside(a.beyond, inside, s.M)
	} else {
		clear(a.beyond)
	}
	a.norm = dense.Norm(a.beyond)
	stationarity := make([]float64, len(x))
	if err := p.Stationarity(stationarity, x); err != nil {
		return nil, err
	}
	var err error
	stationarity[BlockQ], err = p.StationarityBeyond(x, a.norm)
	return stationarity, err
}

// widen adds axes for the point of a problem, and returns the problem and the point in these; the problem as it is where there are none
// to add.
func (a *wideningAxes) widen(p *Problem, x framework.Point) (*Problem, framework.Point, error) {
	m := p.Shape().M
	_, D := a.Dims()
	directions := make([]float64, (1+inverses)*m*D)
	copy(directions, a.beyond)
	for from := 0; from < inverses*m*D; from += m * D {
		next := directions[from+m*D : from+2*m*D]
		copy(next, directions[from:])
		a.m.SolveRows(next)
	}
	whole := expandPoint(a, x, m)
	if !a.Add(directions) {
		return p, x, nil
	}
	data, loss := a.coordinates()
	wider, err := p.reduced(data, loss)
	if err != nil {
		return nil, nil, err
	}
	at := shrinkPoint(a, whole, m)
	return wider, at, wider.Blocks()[BlockQ].Restore(at[BlockQ])
}

// tell adds to the first-order system of a fit what its gradient in Q has outside of the axes.
func (a *wideningAxes) tell(m *Meta) {
	if a != nil && m.KKT != nil {
		m.KKT.Q = math.Hypot(m.KKT.Q, a.norm/float64(m.N))
	}
}
