package objective

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// exchangePasses is roughly what looking at the neighbours of all rows costs, in passes.
const exchangePasses = 4

// Exchanges implements [framework.Exchanger] for losses whose rows have vertices: a row
// goes to that neighbour of its vertex to which its loss rises least, relative to the
// square of the move of the residual. It costs about four evaluations.
func (p *Objective) Exchanges(x framework.Point, most int) (list []framework.Exchange, passes float64, err error) {
	if p.data.Missing {
		return nil, 0, nil
	}
	p.sheet.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	moves, err := nearest.Neighbours(p.ctx, x[BlockTau], p.sheet, p.PlainLoss(), p.data, p.threads)
	if err != nil {
		return nil, 0, err
	}
	for _, m := range moves[:min(most, len(moves))] {
		list = append(list, framework.Exchange{Row: m.Row, At: m.Tau})
	}
	return list, exchangePasses, nil
}
