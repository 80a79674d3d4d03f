package scqm

import (
	"context"
	"fmt"
	"testing"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// roundingOfCosts is the relative difference of costs that only the order of
// sums makes.
const roundingOfCosts = 1e-12

// The tolerance says when a fit ends and never where it goes: a fit to a larger
// tolerance is the beginning of one to a smaller tolerance, whose objective is
// therefore no higher. One that is cut short at the most iterations is cut at
// the same point whatever the tolerance. Where several planes run to the end, as the
// first folds, a smaller tolerance may let another one win.
func TestDrillTolerances(t *testing.T) {
	drill.Run(t, "tolerances", 4, func(c drill.Case) error {
		x, d := outlyingRows(c)
		loss, err := someLoss(c)
		if err != nil {
			return err
		}
		var solver framework.Solver
		switch c.IntN(4) {
		case 0:
			solver = solvers.Continuation{Inner: solvers.LBFGS{}}
		case 1:
			if by := (solvers.Continuation{Inner: solvers.Alternating{}}); serves(by, loss) {
				solver = by
			}
		}
		for _, ridge := range []float64{NoRidge, DefaultRidge} {
			config := Config{Latent: d, Loss: loss, Ridge: ridge, Solver: solver, Threads: 1, Options: framework.Options{MaxIterations: 2000}}
			if err := tightened(x, config); err != nil {
				return fmt.Errorf("%d x %d, d = %d, %s, ridge %v, %v: %w", x.N, x.D, d, loss.Name(), ridge, solver, err)
			}
		}
		return nil
	})
}

// tightened fits to smaller and smaller tolerances, and returns an error where one
// of the fits is not the beginning of the next.
func tightened(x Data, c Config) error {
	var last *framework.Result
	for _, c.Options.Tolerance = range []float64{1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10} {
		fit, err := Learn(context.Background(), x, c)
		if err != nil {
			return err
		}
		run := fit.Run
		if last != nil {
			if run.Cost > last.Cost*(1+roundingOfCosts) {
				return fmt.Errorf("objective %.12g at tolerance %g, %.12g at ten times that", run.Cost, c.Options.Tolerance, last.Cost)
			}
			for i, r := range last.History {
				if i == 0 && run.History[0].Cost != r.Cost { // another plane has won
					break
				}
				if i >= len(run.History) || run.History[i].Cost != r.Cost {
					return fmt.Errorf("iteration %d differs from tolerance %g on", i, c.Options.Tolerance)
				}
			}
		}
		last = run
	}
	return nil
}

// outlyingRows returns rows near a bent sheet, up to three of them far out, and
// the dimension of the sheet.
func outlyingRows(c drill.Case) (x Data, d int) {
	d = 1 + c.IntN(2)
	D := d + 1 + c.IntN(5-d)
	n := 15 + c.IntN(46)
	x = Data{N: n, D: D, X: make([]float64, n*D)}
	noise, bend := []float64{0.01, 0.05, 0.2}[c.IntN(3)], c.NormFloat64()
	for i := range n {
		row := x.Row(i)
		for j := range d {
			row[j] = 2*c.Float64() - 1
			row[d] += bend * row[j] * row[j]
		}
		row[d] -= bend * row[0] * row[d-1] / 2
		for j := range row {
			row[j] += noise * c.NormFloat64()
		}
	}
	for range c.IntN(4) {
		row, far := x.Row(c.IntN(n)), []float64{3, 10, 100}[c.IntN(3)]
		for j := range row {
			row[j] *= far
		}
	}
	return x, d
}

// someLoss draws a loss.
func someLoss(c drill.Case) (framework.Loss, error) {
	switch c.IntN(5) {
	case 0:
		return losses.L1(), nil
	case 1:
		return losses.L2(), nil
	case 2:
		return losses.Huber(0.1 + c.Float64())
	case 3:
		return losses.Lp(1.1 + 1.9*c.Float64())
	default:
		return losses.SquaredL2(), nil
	}
}
