package scqm

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
)

// HuberDeltaFrom chooses delta of the loss huber as [losses.DefaultHuberDelta] does from
// [ResidualNorms], for rows that need not be in memory: from the median distance of the
// rows from the best flat sheet of dimension d, found by a histogram to .8 %. It takes
// two reads, six for more than 1024 columns, and needs no loss of the engine.
func HuberDeltaFrom(ctx context.Context, e Engine, d int) (float64, error) {
	n, D := e.Shape()
	if n < 1 || d < 1 || d > D {
		return 0, fmt.Errorf("scqm: latent dimension %d does not fit %d rows of length %d; want 1 to %d: %w", d, n, D, D, ErrInput)
	}
	p := newStreamProblem(ctx, e, nil, d, 0)
	s, err := p.newStreamStarts(Config{Latent: d})
	if err != nil {
		return 0, err
	}
	x := framework.NewPoint(p.blocks)
	copy(x[BlockC], s.mean)
	dense.Transpose(x[BlockQ], s.axes, d, D)
	counts, _, err := p.sum(p.request(blocks.Norms, x))
	if err != nil {
		return 0, err
	}
	return losses.DefaultHuberDelta([]float64{blocks.Quantile(counts, 0.5)}), nil
}
