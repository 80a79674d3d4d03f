package objective

import (
	"errors"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

const (
	// relocationPasses is the approximate cost of a relocation in passes. otherRelocationPasses is the cost for losses
	// that are not radial, for which rows are searched from many starts.
	relocationPasses, otherRelocationPasses = 4, 100
	// nearerBy is the least relative decrease of the loss of a row for which the row is relocated.
	nearerBy = 1e-9
	// reassignRows bounds the number of rows that are processed at a time, and thereby the memory.
	reassignRows = 1 << 16
)

// Reassign relocates the rows of Tau that have a nearer point elsewhere on the sheet: a solver only finds the
// local minimum of its start, and as the sheet changes, that may no longer be the global one.
func (p *Objective) Reassign(x framework.Point) (moved bool, passes float64, err error) {
	if p.sheet.S == 0 {
		return false, 0, nil
	}
	d := p.sheet.Latent
	p.sheet.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	for from := 0; from < p.data.N; from += reassignRows {
		to := min(from+reassignRows, p.data.N)
		some, err := p.relocate(p.data.Slice(from, to), x[BlockTau][from*d:to*d])
		if err != nil {
			return false, 0, err
		}
		moved = moved || some
	}
	if _, radial := p.loss.(framework.Radial); !radial {
		return moved, otherRelocationPasses, nil
	}
	return moved, relocationPasses, nil
}

// relocate moves the rows of part, at tau on the sheet loaded last, to their projections if these are nearer.
func (p *Objective) relocate(part rows.Data, tau []float64) (moved bool, err error) {
	n, d := part.N, p.sheet.Latent
	old, values, other := make([]float64, n), make([]float64, n), slices.Clone(tau)
	if err := p.evaluateRows(nearest.RowResults{Costs: old}, part, tau, nil); err != nil {
		return false, err
	}
	missing := nearest.Missing{Loss: p.loss, Prior: p.Prior}
	err = nearest.ProjectRows(p.ctx, other, p.sheet, nearest.OfCompleteRows(p.loss), part, missing, p.threads)
	if errors.Is(err, rows.ErrInput) { // rows too far from the sheet for float64
		return false, nil
	}
	if err == nil {
		err = p.evaluateRows(nearest.RowResults{Costs: values}, part, other, nil)
	}
	if err != nil {
		return false, err
	}
	for i, v := range values {
		if v < old[i]-nearerBy*math.Abs(old[i]) {
			copy(tau[i*d:(i+1)*d], other[i*d:(i+1)*d])
			moved = true
		}
	}
	return moved, nil
}
