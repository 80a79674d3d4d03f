package alternating

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// rowSteps bounds the Newton steps of a row. More buy little while the
	// other blocks move too.
	rowSteps = 4
	// rowHalvings bounds the trials of a step.
	rowHalvings = 20
	// rowArmijo is the fraction of the decrease predicted by the slope that a
	// step must bring.
	rowArmijo = 1e-4
	// rowSettled is the decrease, relative to its cost, after which a row has
	// arrived.
	rowSettled = 1e-10
)

// rowNewton takes damped Newton steps on the cost of every row of Tau.
type rowNewton struct {
	at                framework.Point // its Tau is its own
	trial             framework.Point
	cost, tried       []float64 // n
	slope, length     []float64 // n
	grad, step        []float64 // n x d
	hess              []float64 // n x d x d
	active, searching []int     // rows
}

func newRowNewton(p *objective.Objective) *rowNewton {
	n, d := p.Data().N, p.Shape().Latent
	vec := func(n int) []float64 { return make([]float64, n) }
	s := &rowNewton{
		at: make(framework.Point, objective.NumBlocks), trial: make(framework.Point, objective.NumBlocks),
		cost: vec(n), tried: vec(n), slope: vec(n), length: vec(n),
		grad: vec(n * d), step: vec(n * d), hess: vec(n * d * d),
	}
	s.at[objective.BlockTau], s.trial[objective.BlockTau] = vec(n*d), vec(n*d)
	return s
}

// minimize writes the improved rows of Tau into dst.
func (s *rowNewton) minimize(p *objective.Objective, dst []float64, x framework.Point) (cost, passes float64, err error) {
	for k := range objective.NumBlocks - 1 {
		s.at[k], s.trial[k] = x[k], x[k]
	}
	copy(s.at[objective.BlockTau], x[objective.BlockTau])
	copy(s.trial[objective.BlockTau], x[objective.BlockTau])
	s.active = s.active[:0]
	for i := range p.Data().N {
		s.active = append(s.active, i)
	}
	for range rowSteps {
		share := float64(len(s.active)) / float64(p.Data().N)
		if err := p.EvaluateInto(nearest.RowResults{Costs: s.cost, Grad: s.grad, Hess: s.hess}, s.at, objective.BlockTau, s.active); err != nil {
			return 0, passes, err
		}
		passes += share * float64(2+p.Shape().Latent)
		s.direct(p)
		work, err := s.search(p)
		passes += work
		if err != nil {
			return 0, passes, err
		}
		if len(s.active) == 0 {
			break
		}
	}
	copy(dst, s.at[objective.BlockTau])
	return floats.Sum(s.cost) + p.Penalty(nil, x[objective.BlockTheta]), passes, nil
}

// direct computes the Newton steps of the active rows, of which those without
// a way down are no longer active.
func (s *rowNewton) direct(p *objective.Objective) {
	d := p.Shape().Latent
	kept := s.active[:0]
	for _, i := range s.active {
		g, step := s.grad[i*d:(i+1)*d], s.step[i*d:(i+1)*d]
		dense.NewtonStep(step, s.hess[i*d*d:(i+1)*d*d], g)
		s.slope[i], s.length[i] = floats.Dot(g, step), 1
		if s.slope[i] < 0 && !math.IsInf(s.slope[i], 0) {
			kept = append(kept, i)
		}
	}
	s.active = kept
}

// search halves the steps of the active rows until each lowers its cost enough,
// and keeps those active that gained by it.
func (s *rowNewton) search(p *objective.Objective) (passes float64, err error) {
	d := p.Shape().Latent
	s.searching = append(s.searching[:0], s.active...)
	s.active = s.active[:0]
	for range rowHalvings {
		if len(s.searching) == 0 {
			break
		}
		for _, i := range s.searching {
			floats.AddScaledTo(s.trial[objective.BlockTau][i*d:(i+1)*d], s.at[objective.BlockTau][i*d:(i+1)*d], s.length[i], s.step[i*d:(i+1)*d])
		}
		if err := p.EvaluateInto(nearest.RowResults{Costs: s.tried}, s.trial, objective.BlockTau, s.searching); err != nil {
			return passes, err
		}
		passes += float64(len(s.searching)) / float64(p.Data().N)
		rest := s.searching[:0]
		for _, i := range s.searching {
			old, now := s.cost[i], s.tried[i]
			if !(now <= old+rowArmijo*s.length[i]*s.slope[i]) {
				s.length[i] /= 2
				rest = append(rest, i)
				continue
			}
			copy(s.at[objective.BlockTau][i*d:(i+1)*d], s.trial[objective.BlockTau][i*d:(i+1)*d])
			s.cost[i] = now
			if old-now > rowSettled*old {
				s.active = append(s.active, i)
			}
		}
		s.searching = rest
	}
	return passes, nil
}
