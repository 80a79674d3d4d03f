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
	// certifyPasses is roughly what it costs to look at all rows and to evaluate them, in passes, and
	// searchPasses what the search for the nearest point of a row does, in passes over that row: manyStarts
	// times as much for d > 2 and s > 1, and otherLosses times under losses that are not radial.
	certifyPasses, searchPasses = 4, 40
	manyStarts, otherLosses     = 5, 4
	// nearerBy is the relative decrease of a row's loss below which the row
	// stays where it is.
	nearerBy = 1e-9
	// reassignRows are looked at at a time, so that little is held beside the point.
	reassignRows = 1 << 16
)

// Reassign moves the rows of Tau for which the sheet is nearer elsewhere: a
// solver finds the nearest point in the valley in which it starts only, and as
// the sheet bends, that can become the wrong one. It costs about four evaluations, and those of rows that
// are searched for.
func (p *Objective) Reassign(x framework.Point) (moved bool, passes float64, err error) {
	p.searched = 0
	for from := 0; from < p.data.N; from += reassignRows {
		some, err := p.reassign(x, from, min(from+reassignRows, p.data.N))
		if err != nil {
			return false, 0, err
		}
		moved = moved || some
	}
	return moved, certifyPasses + p.searchCost(), nil
}

// searchCost is roughly what the searches of the last reassignment cost, in passes over all rows.
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

// reassign does it for the rows from one number to another. Rows that are certainly nowhere nearer
// are left out.
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
	if _, lower := p.loss.(framework.Minorizer); lower {
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

// nearer moves the rows of part, at tau on the sheet loaded last, to nearer points. Where settled is
// not nil it is tau, from which rows first go to the minima nearby: most rows are certified there,
// though they had not come to rest where they are.
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

// project writes the nearest points of the rows of part.
func (p *Objective) project(tau []float64, part rows.Data) error {
	p.searched += part.N
	return nearest.RelocateRows(p.ctx, tau, p.sheet, nearest.OfCompleteRows(p.loss), part, nearest.Missing{Loss: p.loss, Prior: p.Prior}, p.threads)
}

// settle takes rows from tau to the minima nearby, and projects those that may be nearer elsewhere.
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
