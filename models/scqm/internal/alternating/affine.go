package alternating

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// affineSteps bounds the steps of one minimisation, affineHalvings the
	// trials of a step.
	affineSteps    = 20
	affineHalvings = 30
	// affineArmijo is the fraction of the decrease predicted by the slope that
	// a step must bring.
	affineArmijo = 1e-4
	// affineSettled is the relative decrease of the cost at which the minimum
	// is reached.
	affineSettled = 1e-9
)

// affine minimises the cost over c and Theta for given Q and Tau. The residuals
//
//	r_i = c + V Theta' phi_i + U tau_i - x_i
//
// are affine in both, so that the problem is convex where the loss is. A step
// solves the least squares problem in which the loss of row i has the Hessian
// W_i (see [objective.LossWeights]): iteratively reweighted least squares for losses with a
// quadratic bound, Newton's method for sums over entries without one, and the
// minimum in one step for squared_l2 and mahalanobis. A line search makes it
// descend whatever the weights. A step takes 3nDm operations, those of the system that
// the weights call for, and the loss of all rows for every length tried.
type affine struct {
	weights   objective.LossWeights
	system    affineSystem
	at, trial framework.Point // their c and Theta are their own
	grad      framework.Point // of c and Theta
	dc        []float64       // the step
	theta     []float64
}

// affineSystem is the normal equations of a step.
type affineSystem interface {
	// assemble sums the equations at a sheet and tau, for weights w of the rows.
	assemble(o *objective.Objective, f *sheet.Sheet, tau, w []float64) error
	// solve writes minus the solution for the right-hand side (gc, gt) into dc
	// and dt.
	solve(f *sheet.Sheet, dc, dt, gc, gt []float64)
}

func newAffine(o *objective.Objective, f *sheet.Sheet) *affine {
	s := &affine{
		weights: objective.NewLossWeights(o),
		at:      make(framework.Point, objective.NumBlocks), trial: make(framework.Point, objective.NumBlocks),
		grad: make(framework.Point, objective.NumBlocks),
		dc:   make([]float64, f.D), theta: make([]float64, f.Q*f.S),
	}
	s.weights.Second = true
	if s.weights.Form == objective.PerEntry && f.Q*f.S <= objective.MaxCoupled {
		s.system = newEntrySystem(o, f)
	} else {
		s.system = newCommonSystem(o, f, s.weights.Form)
	}
	for _, x := range []framework.Point{s.at, s.trial, s.grad} {
		x[objective.BlockC], x[objective.BlockTheta] = make([]float64, f.D), make([]float64, f.Q*f.S)
	}
	return s
}

// minimize writes the best c and Theta into dst.
func (s *affine) minimize(p *Sweeper, dst, x framework.Point) (cost, passes float64, err error) {
	for _, y := range []framework.Point{s.at, s.trial} {
		y[objective.BlockQ], y[objective.BlockTau] = x[objective.BlockQ], x[objective.BlockTau]
	}
	copy(s.at[objective.BlockC], x[objective.BlockC])
	copy(s.at[objective.BlockTheta], x[objective.BlockTheta])
	if cost, err = p.o.Evaluate(nil, s.at); err != nil {
		return 0, 1, err
	}
	passes = 1
	for range affineSteps {
		before := cost
		work := 0.0
		cost, work, err = s.step(p, cost)
		passes += work
		if err != nil {
			return 0, passes, err
		}
		if before-cost <= affineSettled*before {
			break
		}
	}
	copy(dst[objective.BlockC], s.at[objective.BlockC])
	copy(dst[objective.BlockTheta], s.at[objective.BlockTheta])
	return cost, passes, nil
}

// step moves at once, from where the problem was evaluated last, and returns the
// new cost. A step that finds nothing better stays.
func (s *affine) step(p *Sweeper, cost float64) (after, passes float64, err error) {
	o, f := p.o, p.load(s.at)
	if err := o.Resume(s.grad); err != nil {
		return cost, 1, err
	}
	if err := s.weights.Compute(o); err != nil {
		return cost, 1, fmt.Errorf("scqm: loss %s: weights: %w", o.Loss().Name(), err)
	}
	if err := s.system.assemble(o, f, s.at[objective.BlockTau], s.weights.W); err != nil {
		return cost, 2, err
	}
	s.system.solve(f, s.dc, s.theta, s.grad[objective.BlockC], s.grad[objective.BlockTheta])
	passes = 2
	slope := floats.Dot(s.dc, s.grad[objective.BlockC]) + floats.Dot(s.theta, s.grad[objective.BlockTheta])
	if !(slope < 0) || !(framework.Point{s.dc, s.theta}).Finite() {
		return cost, passes, nil
	}
	for length, try := 1.0, 0; try < affineHalvings; length, try = length/2, try+1 {
		floats.AddScaledTo(s.trial[objective.BlockC], s.at[objective.BlockC], length, s.dc)
		floats.AddScaledTo(s.trial[objective.BlockTheta], s.at[objective.BlockTheta], length, s.theta)
		now, err := o.Evaluate(nil, s.trial)
		passes++
		if err != nil {
			return cost, passes, err
		}
		if now <= cost+affineArmijo*length*slope {
			s.at, s.trial = s.trial, s.at
			return now, passes, nil
		}
	}
	return cost, passes, nil
}
