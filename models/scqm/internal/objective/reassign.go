package objective

import (
	"errors"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

const (
	// certifyPasses is the approximate cost of certifying and evaluating all rows, in passes, and searchPasses
	// that of the search for the nearest point of a row, in passes over that row: manyStarts times that for d >
	// 2 and s > 1, and otherLosses times that under losses that are not radial.
	certifyPasses, searchPasses = 4, 40
	manyStarts, otherLosses     = 5, 4
	// nearerBy is the least relative decrease of its loss for which a row is relocated.
	nearerBy = 1e-9
	// reassignRows bounds the rows processed at a time, and so the memory.
	reassignRows = 1 << 16
)

// Reassign relocates the rows of Tau that have a nearer point elsewhere on the sheet: a solver only finds the
// local minimum of its start, and as the sheet changes, that may no longer be the global one. It costs about
// four evaluations, and the searches for rows that are not certified.
func (p *Objective) Reassign(x framework.Point) (moved bool, passes float64, err error) {
	if p.searched = 0; p.sheet.S == 0 {
		return false, 0, nil
	}
	for from := 0; from < p.data.N; from += reassignRows {
		some, err := p.reassign(x, from, min(from+reassignRows, p.data.N))
		if err != nil {
			return false, 0, err
		}
		moved = moved || some
	}
	return moved, certifyPasses + p.searchCost(), nil
}

// searchCost is the approximate cost of the searches of the last relocation, in passes over all rows.
func (p *Objective) searchCost() float64 {
	cost := searchPasses * float64(p.searched) / float64(p.data.N)
	if p.sheet.Latent > 2 && p.sheet.S > 1 {
		cost *= manyStarts
	}
	if _, radial := p.loss.(framework.Radial); !radial {
		cost *= otherLosses
	}
	return cost
}

// reassign relocates a range of rows. Rows certified to be at their nearest point are skipped.
func (p *Objective) reassign(x framework.Point, from, to int) (moved bool, err error) {
	d, part := p.sheet.Latent, p.data.Slice(from, to)
	tau := x[BlockTau][from*d : to*d]
	p.sheet.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	if !nearest.Certifies(p.loss) || part.Missing {
		return p.nearer(part, tau, nil)
	}
	list, err := p.uncertain(part, tau)
	if err != nil || len(list) == 0 {
		return false, err
	}
	some := make([]float64, len(list)*d)
	for k, i := range list {
		copy(some[k*d:(k+1)*d], tau[i*d:(i+1)*d])
	}
	var settled []float64
	if _, lower := p.loss.(rowloss.Minorizer); lower {
		settled = slices.Clone(some)
	}
	moved, err = p.nearer(part.Select(list), some, settled)
	for k, i := range list {
		copy(tau[i*d:(i+1)*d], some[k*d:(k+1)*d])
	}
	return moved, err
}

func (p *Objective) uncertain(part rows.Data, tau []float64) ([]int, error) {
	return nearest.UncertainRows(p.ctx, tau, p.sheet, p.loss, part, nearerBy, p.Worker, p.threads)
}

// nearer relocates the rows of part, at tau on the sheet loaded last, to nearer points. Where settled is not
// nil it is a copy of tau, and rows first move to the local minimum: most are certified there, though not at tau, which
// had not converged.
func (p *Objective) nearer(part rows.Data, tau, settled []float64) (moved bool, err error) {
	n, d := part.N, p.sheet.Latent
	old, values, other := make([]float64, n), make([]float64, n), settled
	if err := p.evaluateRows(nearest.RowResults{Costs: old}, part, tau, nil); err != nil {
		return false, err
	}
	if settled == nil {
		other = slices.Clone(tau)
		err = p.project(other, part)
	} else {
		err = p.settle(settled, part)
	}
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

// project writes the projections of the rows of part.
func (p *Objective) project(tau []float64, part rows.Data) error {
	p.searched += part.N
	return nearest.RelocateRows(p.ctx, tau, p.sheet, nearest.OfCompleteRows(p.loss), part, nearest.Missing{Loss: p.loss, Prior: p.Prior}, p.threads)
}

// settle moves rows from tau to the local minimum, and projects those that are not certified there.
func (p *Objective) settle(tau []float64, part rows.Data) error {
	if err := nearest.SettleRows(p.ctx, tau, p.sheet, p.loss, part, p.Worker, p.threads); err != nil {
		return err
	}
	list, err := p.uncertain(part, tau)
	if err != nil || len(list) == 0 {
		return err
	}
	d := p.sheet.Latent
	some := make([]float64, len(list)*d)
	for k, i := range list {
		copy(some[k*d:(k+1)*d], tau[i*d:(i+1)*d])
	}
	if err := p.project(some, part.Select(list)); err != nil {
		return err
	}
	for k, i := range list {
		copy(tau[i*d:(i+1)*d], some[k*d:(k+1)*d])
	}
	return nil
}
