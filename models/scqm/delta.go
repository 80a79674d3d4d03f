package scqm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/streaming"
)

const huberEntries = "huber_entries"

// DefaultDelta chooses delta of the named loss for [Learn] with the settings c, whose Loss is ignored. For losses that
// redescend (see [losses.Tukey]), it applies [losses.DefaultDelta] to the residuals of the fit by their core
// ([losses.Core]), unless the fit uses sums over blocks. If the fit uses these sums, or if rows have weights or repeat,
// it returns the result of [DefaultDeltaFrom]. Rows then give the same model in memory and in a file, and a row of
// weight 2 counts as two rows. Otherwise it applies [losses.DefaultDelta] to [ResidualNorms].
func DefaultDelta(ctx context.Context, x Data, c Config, name string) (float64, error) {
	var err error
	if c.Loss, err = losses.ByName(name, losses.Params{Delta: new(1.0)}); err != nil {
		return 0, err
	}
	if redescends(c.Loss, 1, huge) && !sumsBlocks(c.Solver) {
		return deltaByCore(ctx, x, c, name)
	}
	entries := name == huberEntries
	if !x.Missing && x.N*x.D > 0 && (sumsBlocks(c.Solver) || x.Weights != nil || rows.Repeats(x)) {
		return DefaultDeltaFrom(ctx, &LocalEngine{Source: x, Threads: c.Threads}, c, name)
	}
	x.Missing = x.Missing || entries // whose sizes are wanted
	norms, err := ResidualNorms(x, c.Latent)
	if err != nil {
		return 0, err
	}
	return losses.DefaultDelta(name, norms), nil
}

// deltaByCore chooses delta from the residuals of the fit by the core of the loss (see [losses.Core]). The delta of
// the core is chosen from the residuals of the l2 fit, which outliers increase.
func deltaByCore(ctx context.Context, x Data, c Config, name string) (float64, error) {
	if c.IgnoreMissing {
		_, err := losses.ByEntry(c.Loss)
		return 0, fmt.Errorf("scqm: %w: %w", err, ErrInput)
	}
	c.Loss, c.Options.Observers, c.Options.Checkpoint = losses.L2(), nil, nil
	delta, err := deltaOfFit(ctx, x, c, name)
	if err != nil {
		return 0, err
	}
	wide, err := losses.ByName(name, losses.Params{Delta: &delta})
	if err != nil {
		return 0, err
	}
	c.Loss, _ = losses.Core(wide)
	return deltaOfFit(ctx, x, c, name)
}

// deltaOfFit chooses delta from the residuals of the fit with the settings c. It leaves out the residuals of outliers.
func deltaOfFit(ctx context.Context, x Data, c Config, name string) (float64, error) {
	fit, err := Learn(ctx, x, c)
	if err != nil {
		return 0, err
	}
	near, err := fit.Model.Reconstruct(ctx, fit.Model.Tau, c.Threads)
	if err != nil {
		return 0, err
	}
	var norms, weights []float64
	for i := range x.N {
		if v := floats.Distance(near[i*x.D:(i+1)*x.D], x.Row(i), 2); v > 0 && x.Weight(i) > 0 {
			norms, weights = append(norms, v), append(weights, x.Weight(i))
		}
	}
	if norms == nil {
		return losses.DefaultDelta(name, nil), nil
	}
	stat.SortWeighted(norms, weights)
	middle := stat.Quantile(0.5, stat.Empirical, norms, weights)
	n, _ := slices.BinarySearch(norms, math.Nextafter(outlying*middle, math.Inf(1)))
	return losses.DefaultDelta(name, []float64{stat.Quantile(0.5, stat.Empirical, norms[:n], weights[:n])}), nil
}

// outlying is the size of a residual, in medians, from which it is left out of scale estimates: 2.5 standard
// deviations of Gaussian noise (P. J. Rousseeuw, Least median of squares regression, J. Am. Stat. Assoc. 79 (1984)).
const outlying = 2.5 * 1.4826

// DefaultDeltaFrom chooses delta of the named loss for [LearnFrom] with these settings. It differs from
// [losses.DefaultDelta] of [ResidualNorms] by using a sample of some 2000 evenly spread rows (fewer for more than 262
// columns). Delta is the median distance of the sample from its best flat sheet, or the median size of its entries.
// It reads all rows once, and does not use the loss of the engine.
func DefaultDeltaFrom(ctx context.Context, e Engine, c Config, name string) (float64, error) {
	n, D := e.Shape()
	if n < 1 || c.Latent < 1 || c.Latent > D {
		return 0, fmt.Errorf("scqm: latent dimension %d does not fit %d rows of length %d; want 1 to %d: %w", c.Latent, n, D, D, ErrInput)
	}
	p := streaming.New(ctx, e, nil, c.Latent, 0)
	middle, err := p.MedianResidual(name == huberEntries)
	if err != nil {
		return 0, err
	}
	return losses.DefaultDelta(name, []float64{middle}), nil
}

// huge is a number larger than any extent of rows.
const huge = 1e100
