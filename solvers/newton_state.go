package solvers

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// NewtonState is the state of a run of [Newton].
type NewtonState struct {
	X    framework.Point
	Cost float64
	// Mu is the damping of the next step, Nu the factor by which a rejection
	// raises it.
	Mu, Nu float64
	// Assembled reports that the derivatives at X have been computed.
	Assembled bool

	arrowhead *latent.Arrowhead // with schur those at X, if Assembled
	schur     *schur
	trial     framework.Point
	moved     []float64 // the inner block after the step
}

// Iterate returns the current point and its cost.
func (s *NewtonState) Iterate() (framework.Point, float64) {
	return s.X, s.Cost
}

// allocate allocates the fields that are not stored.
func (s *NewtonState) allocate(e *framework.Evaluator, shape latent.ArrowheadShape) {
	s.arrowhead, s.schur = latent.NewArrowhead(shape), newSchur(shape)
	s.trial, s.moved = framework.NewPoint(e.Blocks()), make([]float64, shape.Inner())
}

// assemble computes derivatives at X and eliminates the inner rows.
func (s *NewtonState) assemble(e *framework.Evaluator) (float64, error) {
	cost, err := latent.AssembleHessian(e, s.arrowhead, s.X)
	if err == nil && math.IsInf(cost, 0) {
		err = fmt.Errorf("%w: the cost with second derivatives", framework.ErrNonFinite)
	}
	if err != nil {
		return cost, err
	}
	s.schur.eliminate(s.arrowhead)
	s.Assembled = true
	return cost, nil
}

// try evaluates the step in schur; its cost is infinite where it leaves the domain.
func (s *NewtonState) try(e *framework.Evaluator) (float64, error) {
	if latent.RetractOuter(e, s.trial, s.X, s.schur.outer) != nil {
		return math.Inf(1), nil
	}
	if inner := s.arrowhead.Block; s.arrowhead.Rows > 0 {
		copy(s.trial[inner], s.X[inner])
		floats.AddTo(s.moved, s.X[inner], s.schur.inner)
	}
	return latent.InnerStep(e, s.trial, s.moved)
}

// accept moves to the trial if it is good enough, and adapts the damping.
func (s *NewtonState) accept(cost, predicted float64) bool {
	ratio := (s.Cost - cost) / predicted
	rounding := predicted <= costNoise*math.Abs(s.Cost)
	if !(cost <= s.Cost) || !(ratio > armijoConstant) && !rounding {
		return false
	}
	s.X, s.trial = s.trial, s.X
	s.Cost = cost
	s.Assembled = false
	if rounding {
		return true
	}
	gain := 2*min(ratio, 1) - 1
	s.Mu *= max(0.1, 1-gain*gain*gain)
	s.Nu = 2
	return true
}
