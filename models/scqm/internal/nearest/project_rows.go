package nearest

import (
	"cmp"
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// ProjectRows writes the latent coordinates of all rows of x into tau, in parallel. The result for a row does not
// depend on the others; see [Projector] for its cost. missing holds the loss and the prior for incomplete rows.
func ProjectRows(ctx context.Context, tau []float64, f *sheet.Sheet, loss framework.Loss, x rows.Data, missing Missing, threads int) error {
	threads = Callers(loss, threads)
	shards := max(par.Shards(x.N), min(x.N, threads))
	projectors := make([]*Projector, threads) // of the goroutines, as parts can be a few rows
	return eachShard(threads, shards, func(id, shard int) error {
		lo, hi := shard*x.N/shards, (shard+1)*x.N/shards
		part := rows.Data{N: hi - lo, D: x.D, X: x.X[lo*x.D : hi*x.D], Missing: x.Missing}
		if projectors[id] == nil {
			projectors[id] = NewProjector(f, loss)
			projectors[id].Missing = missing
		}
		return projectors[id].Project(ctx, tau[lo*f.Latent:hi*f.Latent], part, x.First+lo)
	})
}

// eachShard calls do for every shard, in parallel, and returns the first error.
func eachShard(threads, shards int, do func(id, shard int) error) error {
	errs := make([]error, shards)
	par.Do(threads, shards, func(id, shard int) { errs[shard] = do(id, shard) })
	return cmp.Or(errs...)
}

// Callers returns the number of goroutines that call a loss at the same time.
func Callers(loss framework.Loss, threads int) int {
	if d, ok := loss.(rowloss.HighLatency); ok {
		return max(par.Threads(threads), d.Callers())
	}
	return par.Threads(threads)
}

// RefineRows moves every tau_i to the local minimum of the loss of its row near it, by Newton steps.
func RefineRows(ctx context.Context, tau []float64, f *sheet.Sheet, loss framework.Loss, x rows.Data, threads int) error {
	threads = par.Threads(threads)
	projectors := make([]*Projector, threads)
	return eachShard(threads, par.Shards(x.N), func(id, shard int) error {
		if projectors[id] == nil {
			projectors[id] = NewProjector(f, loss)
		}
		lo, hi := par.Bounds(x.N, shard)
		for i := lo; i < hi; i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := rows.Data{N: 1, D: x.D, X: x.Row(i)}
			if err := projectors[id].minimize(ctx, loss, tau[i*f.Latent:(i+1)*f.Latent], row, precision); err != nil {
				return err
			}
		}
		return nil
	})
}
