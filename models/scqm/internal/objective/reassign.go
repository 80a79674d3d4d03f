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
	// reassignRows are looked at at a time, so that little is held beside the point.
	reassignRows = 1 << 16
)

// Reassign moves the rows of Tau for which the sheet is nearer elsewhere: a
// solver finds the nearest point in the valley in which it starts only, and as
// the sheet bends, that can become the wrong one. It costs about four evaluations.
func (p *Objective) Reassign(x framework.Point) (moved bool, passes float64, err error) {
	for from := 0; from < p.data.N; from += reassignRows {
		some, err := p.reassign(x, from, min(from+reassignRows, p.data.N))
		if err != nil {
			return false, 0, err
		}
		moved = moved || some
	}
	return moved, reassignPasses, nil
}

// reassign does it for the rows from one number to another. Of a radial loss rows that are
// certainly nowhere nearer are left out.
func (p *Objective) reassign(x framework.Point, from, to int) (moved bool, err error) {
	n, d, D := to-from, p.sheet.Latent, p.data.D
	part := p.data
	part.N, part.X = n, p.data.X[from*D:to*D]
	if part.Weights != nil {
		part.Weights = part.Weights[from:to]
	}
	tau := x[BlockTau][from*d : to*d]
	p.sheet.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	if _, radial := p.loss.(framework.Radial); !radial || part.Missing {
		return p.nearer(part, tau)
	}
	list, err := nearest.UncertainRows(p.ctx, tau, p.sheet, part, nearerBy, p.Worker, p.threads)
	if err != nil || len(list) == 0 {
		return false, err
	}
	some := make([]float64, len(list)*d)
	for k, i := range list {
		copy(some[k*d:(k+1)*d], tau[i*d:(i+1)*d])
	}
	moved, err = p.nearer(part.Select(list), some)
	for k, i := range list {
		copy(tau[i*d:(i+1)*d], some[k*d:(k+1)*d])
	}
	return moved, err
}

// nearer moves the rows of part, at tau on the sheet loaded last, to nearer points.
func (p *Objective) nearer(part rows.Data, tau []float64) (moved bool, err error) {
	n, d := part.N, p.sheet.Latent
	old, values, other := make([]float64, n), make([]float64, n), make([]float64, n*d)
	if err := p.evaluateRows(nearest.RowResults{Costs: old}, part, tau, nil); err != nil {
		return false, err
	}
	err = nearest.ProjectRows(p.ctx, other, p.sheet, p.loss, nil, part, nearest.Missing{Loss: p.loss, Prior: p.Prior}, p.threads)
	if errors.Is(err, rows.ErrInput) { // rows too far away to be projected
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
