package framework

import "fmt"

// Exchanger is a [PrimalDual] whose inner rows have other minima next to the one that
// they are in, as where a residual vanishes in one entry in place of another.
type Exchanger interface {
	PrimalDual
	// Exchanges returns at most so many other places of inner rows near x, one of a
	// row, those first from which the cost may fall farthest, and the passes over the
	// rows that this took.
	Exchanges(x Point, most int) (list []Exchange, passes float64, err error)
	// PromisingExchanges returns at most so many other places of inner rows, one of a row,
	// those first whose effect on the outer coordinates, which follow, promises the lowest cost, and the
	// passes over the rows that this took. The cost may be rounded over another length afterwards.
	PromisingExchanges(x Point, most int) (list []Exchange, passes float64, err error)
	// Distinct reports whether the places of inner rows at x can be told from those next to them, as residuals are
	// small against the extent of the surface. Where they are not, lower minima are next to nearly every
	// minimum and say nothing of other rows: they are not worth looking for.
	Distinct(x Point) (bool, error)
}

// Exchange is another place of an inner row.
type Exchange struct {
	Row int
	At  []float64
}

// Exchanges returns other places of inner rows; see [Exchanger]. There are none where
// the problem knows of none.
func (e *Evaluator) Exchanges(x Point, most int) ([]Exchange, error) {
	return e.exchanges(x, most, Exchanger.Exchanges)
}

// PromisingExchanges returns other places of inner rows; see [Exchanger]. There are none where
// the problem knows of none.
func (e *Evaluator) PromisingExchanges(x Point, most int) ([]Exchange, error) {
	return e.exchanges(x, most, Exchanger.PromisingExchanges)
}

func (e *Evaluator) exchanges(x Point, most int, find func(Exchanger, Point, int) ([]Exchange, float64, error)) ([]Exchange, error) {
	p, ok := e.problem.(Exchanger)
	if !ok {
		return nil, nil
	}
	list, passes, err := find(p, x, most)
	e.counts.Passes += passes
	e.lastValid = false
	if err != nil {
		return nil, e.failure(fmt.Errorf("exchanges: %w", err))
	}
	return list, nil
}

// Distinct reports whether other places of inner rows are worth looking for; see [Exchanger]. They are where the
// problem knows of none.
func (e *Evaluator) Distinct(x Point) (bool, error) {
	p, ok := e.problem.(Exchanger)
	if !ok {
		return true, nil
	}
	distinct, err := p.Distinct(x)
	e.counts.Passes++
	e.lastValid = false
	if err != nil {
		return false, e.failure(fmt.Errorf("distinct: %w", err))
	}
	return distinct, nil
}
