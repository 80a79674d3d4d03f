package objective

import (
	"errors"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

const (
	// reassignPasses is roughly what projecting all rows costs, in passes.
	reassignPasses = 4
	// nearerBy is the relative decrease of a row's loss below which the row
	// stays where it is.
	nearerBy = 1e-9
)

// Reassign moves the rows of Tau for which the sheet is nearer elsewhere: a
// solver finds the nearest point in the valley in which it starts only, and as
// the sheet bends, that can become the wrong one. It costs about four evaluations.
func (p *Objective) Reassign(x framework.Point) (moved bool, passes float64, err error) {
	n, d := p.data.N, p.sheet.Latent
	old, values := make([]float64, n), make([]float64, n)
	if err := p.EvaluateRows(old, nil, x, BlockTau, nil); err != nil {
		return false, 0, err
	}
	other := make(framework.Point, NumBlocks)
	copy(other, x)
	other[BlockTau] = make([]float64, n*d)
	err = nearest.ProjectRows(p.ctx, other[BlockTau], p.sheet, p.loss, nil, p.data, nearest.Missing{Loss: p.loss, Prior: p.Prior}, p.threads)
	if errors.Is(err, rows.ErrInput) { // rows too far away to be projected
		return false, reassignPasses, nil
	}
	if err == nil {
		err = p.EvaluateRows(values, nil, other, BlockTau, nil)
	}
	if err != nil {
		return false, 0, err
	}
	for i, v := range values {
		if v < old[i]-nearerBy*math.Abs(old[i]) {
			copy(x[BlockTau][i*d:(i+1)*d], other[BlockTau][i*d:(i+1)*d])
			moved = true
		}
	}
	return moved, reassignPasses, nil
}
