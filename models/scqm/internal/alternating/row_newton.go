package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// rowSteps bounds the Newton steps of a row. More buy little while the
	// other blocks move too.
	rowSteps = 4
	// rowTries bounds the lengths tried in a step.
	rowTries = 20
	// rowDecrease is the decrease, relative to its cost, after which a row has
	// arrived.
	rowDecrease = 1e-10
)

// rowNewton minimises the cost over Tau for a fixed sheet, n problems in R^d, by damped
// Newton steps of all rows at once; see [nearest.General] for the cost of a step.
type rowNewton struct {
	newton *nearest.General
	at     framework.Point
	tau    []float64 // n x d
}

func newRowNewton(p *objective.Objective) *rowNewton {
	n, d := p.Data().N, p.Shape().Latent
	s := &rowNewton{newton: nearest.NewGeneral(n, d), at: make(framework.Point, objective.NumBlocks), tau: make([]float64, n*d)}
	s.newton.Steps, s.newton.Tries, s.newton.Decrease = rowSteps, rowTries, rowDecrease
	return s
}

// minimize writes the improved rows of Tau into dst.
func (s *rowNewton) minimize(p *objective.Objective, dst []float64, x framework.Point) (cost, passes float64, err error) {
	copy(s.at, x)
	copy(s.tau, x[objective.BlockTau])
	work, err := s.newton.Minimize(s.tau, func(to nearest.RowResults, tau []float64, list []int) error {
		s.at[objective.BlockTau] = tau
		return p.EvaluateInto(to, s.at, objective.BlockTau, list)
	})
	passes = (float64(work.Derivatives)*float64(2+p.Shape().Latent) + float64(work.Losses)) / float64(p.Data().N)
	if err != nil {
		return 0, passes, err
	}
	copy(dst, s.tau)
	return floats.Sum(s.newton.Cost()) + p.Penalty(nil, x[objective.BlockTheta]), passes, nil
}
