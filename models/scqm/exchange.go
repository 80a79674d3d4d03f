package scqm

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// Rows with vertices (l1) have other ones beside theirs. Which of them leads to a lower
// minimum depends on the sheet, which follows the change of the row's gradient. At a minimum
// with kinks it seems not to: multipliers take every small change up. Rounded, it does, and
// what it gains is known to second order, see [Problem.reassignTogether]:
//
//	gain_i = |S^-1/2 (g_i' - g_i)|^2 / 2 - (e_i' - e_i),
//
// with e_i the rounded loss and g_i its gradient by the outer coordinates where the row is, e_i'
// and g_i' elsewhere, and S the reduced Hessian of the rounded cost.

const (
	// exchangeRounding is the length of the rounding, relative to the scale of a typical
	// residual.
	exchangeRounding = 0.1
	// exchangePlaces is the number of other places of a row that are looked at, those to
	// which its loss rises least, relative to the square of the move of the residual.
	exchangePlaces = 8
	// exchangeSteps and settledSteps are the inner steps that rows take to their rounded
	// places, elsewhere and where they are.
	exchangeSteps, settledSteps = 2, 6
	// leastExchange is the gain, relative to the cost, from which on an exchange is offered.
	leastExchange = 1e-8
	// exchangePasses is roughly what looking at the neighbours of all rows costs, in
	// passes, and promisingPasses what all that costs.
	exchangePasses, promisingPasses = 4, 80
)

// Exchanges implements [framework.Exchanger] for losses whose rows have vertices: a row at one
// goes to that neighbour of its vertex to which its loss rises least, relative to the
// square of the move of the residual. It costs about four evaluations.
func (p *Problem) Exchanges(x framework.Point, most int) (list []framework.Exchange, passes float64, err error) {
	moves, err := p.neighbours(x, 1)
	moves = slices.DeleteFunc(moves, func(m nearest.Move) bool { return m.Smooth })
	return exchanges(moves, most), exchangePasses, err
}

// PromisingExchanges implements [framework.Exchanger] for losses whose rows have vertices: a row goes to
// that of eight other vertices from which it promises the sheet most. It costs about as much as eighty evaluations.
func (p *Problem) PromisingExchanges(x framework.Point, most int) (list []framework.Exchange, passes float64, err error) {
	moves, err := p.neighbours(x, exchangePlaces)
	if len(moves) == 0 || err != nil {
		return nil, exchangePasses, err
	}
	moves, err = p.promisingExchanges(x, moves)
	return exchanges(moves, most), promisingPasses, err
}

// neighbours returns ways of rows to at most so many other vertices each.
func (p *Problem) neighbours(x framework.Point, most int) ([]nearest.Move, error) {
	if p.Data().Missing {
		return nil, nil
	}
	f := p.NewSheet()
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	return nearest.Neighbours(p.Context(), x[BlockTau], f, p.PlainLoss(), *p.Data(), most, p.Threads())
}

// exchanges returns the first moves.
func exchanges(moves []nearest.Move, most int) []framework.Exchange {
	var list []framework.Exchange
	for _, m := range moves[:min(most, len(moves))] {
		list = append(list, framework.Exchange{Row: m.Row, At: m.Tau})
	}
	return list
}

// exchangeMove is a move with what it promises.
type exchangeMove struct {
	nearest.Move
	gain float64
}

// promisingExchanges returns the best move of every row that promises a gain, those first that promise
// most. Where there are no second derivatives to tell, these are all, in the order of their
// rises.
func (p *Problem) promisingExchanges(x framework.Point, moves []nearest.Move) ([]nearest.Move, error) {
	_, scale, err := p.DualScale(x)
	if err != nil {
		return nil, err
	}
	p.Smooth(exchangeRounding * scale)
	defer p.Smooth(0)
	here, err := p.settled(x, settledSteps)
	if err != nil {
		return nil, err
	}
	h, ok, err := framework.ReduceHessian(p, here)
	if err != nil {
		return nil, err
	}
	if !ok || !h.Decompose() {
		return firstOfRows(moves), nil
	}
	cost, err := p.Evaluate(nil, here)
	if err != nil {
		return nil, err
	}
	var list []exchangeMove
	for turn := range exchangePlaces {
		some, err := p.exchangeGains(here, ofTurn(moves, turn), h)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	list = slices.DeleteFunc(list, func(m exchangeMove) bool { return !(m.gain > leastExchange*cost) })
	slices.SortStableFunc(list, func(a, b exchangeMove) int { return cmp.Compare(b.gain, a.gain) })
	sorted := make([]nearest.Move, len(list))
	for k, m := range list {
		sorted[k] = m.Move
	}
	return firstOfRows(sorted), nil
}

// settled returns x with the rows at the places that inner steps take them to.
func (p *Problem) settled(x framework.Point, steps int) (framework.Point, error) {
	x = x.Clone()
	for range steps {
		if _, _, err := p.InnerStep(x, x[BlockTau]); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// exchangeGains returns what moves of one row each promise at x.
func (p *Problem) exchangeGains(x framework.Point, moves []nearest.Move, h *framework.ReducedHessian) ([]exchangeMove, error) {
	if len(moves) == 0 {
		return nil, nil
	}
	y := x.Clone()
	d := p.Shape().Latent
	for _, m := range moves {
		copy(y[BlockTau][m.Row*d:], m.Tau)
	}
	y, err := p.settled(y, exchangeSteps)
	if err != nil {
		return nil, err
	}
	from, to := make([]float64, p.Data().N), make([]float64, p.Data().N)
	if err := p.EvaluateRows(from, nil, x, BlockTau, nil); err != nil {
		return nil, err
	}
	if err := p.EvaluateRows(to, nil, y, BlockTau, nil); err != nil {
		return nil, err
	}
	white, err := p.pulls(x, y, moves, h)
	if err != nil {
		return nil, err
	}
	list := make([]exchangeMove, len(moves))
	for k, m := range moves {
		list[k] = exchangeMove{m, floats.Dot(white[k], white[k])/2 - (to[m.Row] - from[m.Row])}
	}
	return list, nil
}

// ofTurn returns the move number turn of every row that has as many.
func ofTurn(moves []nearest.Move, turn int) []nearest.Move {
	seen := make(map[int]int)
	var list []nearest.Move
	for _, m := range moves {
		if seen[m.Row] == turn {
			list = append(list, m)
		}
		seen[m.Row]++
	}
	return list
}

// firstOfRows returns the first move of every row.
func firstOfRows(moves []nearest.Move) []nearest.Move { return ofTurn(moves, 0) }
