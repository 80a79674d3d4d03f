package bench

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// FitterRate says how many small fits one processor does.
type FitterRate struct {
	PerSecond  float64 `json:"fits_per_second_per_core"`
	Iterations float64 `json:"iterations_per_fit"`
	Converged  float64 `json:"converged"` // the part of them
}

const (
	fitterBatches = 5
	// fitterBatch is the time of one of the batches of which the best counts: other
	// work on the machine only ever makes one slower.
	fitterBatch = 100 * time.Millisecond
)

// fitterRate fits all sets again and again with a [scqm.Fitter]. It is nil where a
// Fitter does not take them.
func (p *Problem) fitterRate(ctx context.Context, o Options) (*FitterRate, error) {
	config := p.config(0, o)
	config.Options = framework.Options{}
	fitter, err := scqm.NewFitter(ctx, p.sets[0].N, p.sets[0].D, config)
	if errors.Is(err, scqm.ErrInput) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rate := &FitterRate{}
	var m scqm.Model
	for range fitterBatches {
		fits, iterations, converged := 0, 0, 0
		begin := time.Now()
		for time.Since(begin) < fitterBatch {
			for _, x := range p.sets {
				out, err := fitter.Fit(&m, x)
				if err != nil {
					return nil, err
				}
				fits++
				iterations += out.Iterations
				if out.Converged {
					converged++
				}
			}
		}
		rate.PerSecond = math.Max(rate.PerSecond, float64(fits)/time.Since(begin).Seconds())
		rate.Iterations, rate.Converged = float64(iterations)/float64(fits), float64(converged)/float64(fits)
	}
	return rate, nil
}
