package solvers

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

func beginBlocks(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	state, err := RGD{}.Init(e, x)
	if err != nil {
		return nil, err
	}
	d := state.(*RGDState)
	return &AlternatingState{X: x, Cost: d.Cost, Steps: d.Steps, descent: d}, nil
}

// stepBlocks minimises over every group of blocks once and takes a gradient
// step in every block outside of them.
func (a Alternating) stepBlocks(e *framework.Evaluator, s *AlternatingState) error {
	if s.descent == nil {
		s.descent = &RGDState{Steps: s.Steps, Taken: takenLike(s.Steps)}
	}
	d := s.descent
	d.X, d.Cost = s.X, s.Cost
	if d.trial == nil {
		d.Grad, d.trial = framework.NewPoint(e.Blocks()), framework.NewPoint(e.Blocks())
	}
	d.Known = false // other blocks have moved
	defer func() { s.Cost = d.Cost }()
	grouped := make([]bool, len(s.X))
	moved := false
	for g, blocks := range latent.Groups(e) {
		m, err := minimizeGroup(e, d, g, blocks)
		if err != nil {
			return err
		}
		moved = moved || m
		for _, k := range blocks {
			grouped[k] = true
		}
	}
	for k, b := range e.Blocks() {
		if grouped[k] || b.Dim() == 0 {
			continue
		}
		m, err := descend(e, d, k)
		if err != nil {
			return err
		}
		moved = moved || m
	}
	if !moved {
		return framework.ErrNoProgress
	}
	return nil
}

// takenLike allocates the step sizes, which are not read here.
func takenLike(steps [][]float64) [][]float64 {
	taken := make([][]float64, len(steps))
	for k := range steps {
		taken[k] = make([]float64, len(steps[k]))
	}
	return taken
}

// minimizeGroup moves the blocks of one group and reports whether the cost
// fell.
func minimizeGroup(e *framework.Evaluator, d *RGDState, g int, blocks []int) (bool, error) {
	cost, err := latent.MinimizeGroup(e, d.trial, d.X, g)
	if err != nil || !(cost <= d.Cost) {
		return false, err
	}
	moved := cost < d.Cost
	for _, k := range blocks {
		d.X[k], d.trial[k] = d.trial[k], d.X[k]
	}
	d.Cost = cost
	return moved, nil
}

// descend takes one gradient step in a block, or one in each of its rows.
func descend(e *framework.Evaluator, d *RGDState, k int) (bool, error) {
	a := RGD{}.withDefaults()
	if latent.SeparableRows(e, k) {
		return a.moveRows(e, d, k)
	}
	return a.moveBlock(e, d, k)
}
