package latent

import "github.com/scqm/scqm/framework"

// StochasticSweeper is a problem that can sweep over a part of its data at a time, drawn
// at random, with an average over the parts drawn so far.
type StochasticSweeper interface {
	framework.Problem
	// Draws returns the number of draws in which all data are drawn once; 0 where the
	// problem, as it is set up, cannot sweep so.
	Draws() int
	// SweepDraw does draw number k, from 0 on, at x: what the part says there of the
	// function that [Sweeper.Sweep] minimises enters an average with the weight rate, all
	// before with 1 - rate; number 0 begins a new one. The minimiser of the average is
	// written into next. Draws k and k + Draws() are of different reads; no two of one
	// read share data. The same k, on the same data, draws the same part. Where the problem is a
	// [Sampler] with parts, draws may be those of a problem whose minimum is near.
	SweepDraw(next, x framework.Point, k int, rate float64) error
}

// SweepDraw does one draw of a problem that is a [StochasticSweeper]. It counts as the part of
// an evaluation and of two passes that it is. Points that are not finite are an error.
func SweepDraw(e *framework.Evaluator, next, x framework.Point, k int, rate float64) error {
	p, _ := framework.As[StochasticSweeper](e.Problem())
	return e.Charge(0, func() error {
		if err := p.SweepDraw(next, x, k, rate); err != nil {
			return err
		}
		part := 1 / float64(p.Draws())
		e.Count(part, 2*part)
		if !next.Finite() {
			return framework.ErrNonFinite
		}
		return nil
	})
}
