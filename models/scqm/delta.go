package scqm

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/streaming"
	"github.com/scqm/scqm/solvers"
)

// HuberDelta chooses delta of the loss huber or, by entries, of huber_entries, for [Learn] with these settings,
// whose Loss is ignored: as [HuberDeltaFrom] where they sum over blocks, so that rows make the same model in
// memory and in a file, and where rows have weights or repeat, so that one of weight 2 counts as two; else by
// [losses.DefaultHuberDelta] from [ResidualNorms].
func HuberDelta(ctx context.Context, x Data, c Config, entries bool) (float64, error) {
	trial := losses.Huber
	if entries {
		trial = losses.HuberEntries
	}
	var err error
	if c.Loss, err = trial(1); err != nil {
		return 0, err
	}
	if !x.Missing && x.N*x.D > 0 && (sumsBlocks(c.Solver) || c.streams(x) || x.Weights != nil || rows.Repeats(x)) {
		return HuberDeltaFrom(ctx, &LocalEngine{Source: x, Threads: c.Threads}, c, entries)
	}
	x.Missing = x.Missing || entries // whose sizes are wanted
	norms, err := ResidualNorms(x, c.Latent)
	if err != nil {
		return 0, err
	}
	return losses.DefaultHuberDelta(norms), nil
}

// HuberDeltaFrom chooses delta of the loss huber or, by entries, of huber_entries, for
// [LearnFrom] with these settings: as [losses.DefaultHuberDelta] does from
// [ResidualNorms], but by a histogram, to .8 %: from the median distance of the rows
// from the best flat sheet, or the median size of its entries. It takes two reads, six
// for more than 1024 columns, and with [solvers.Stochastic] reads of the sample of its
// start. It needs no loss of the engine.
func HuberDeltaFrom(ctx context.Context, e Engine, c Config, entries bool) (float64, error) {
	n, D := e.Shape()
	if n < 1 || c.Latent < 1 || c.Latent > D {
		return 0, fmt.Errorf("scqm: latent dimension %d does not fit %d rows of length %d; want 1 to %d: %w", c.Latent, n, D, D, ErrInput)
	}
	p := streaming.New(ctx, e, nil, c.Latent, 0)
	if _, ok := c.Solver.(solvers.Stochastic); ok {
		p.Draw(c.Seed)
	}
	middle, err := p.MedianResidual(entries)
	if err != nil {
		return 0, err
	}
	return losses.DefaultHuberDelta([]float64{middle}), nil
}
