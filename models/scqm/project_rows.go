package scqm

import (
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
)

// projectRows writes the latent coordinates of all rows of x into tau.
func projectRows(ctx context.Context, tau []float64, f *sheet, loss framework.Loss, x Data, threads int) error {
	threads = callers(loss, threads)
	errs := make([]error, max(par.Shards(x.N), min(x.N, threads)))
	par.Do(threads, len(errs), func(_, shard int) {
		lo, hi := shard*x.N/len(errs), (shard+1)*x.N/len(errs)
		part := Data{N: hi - lo, D: x.D, X: x.X[lo*x.D : hi*x.D]}
		errs[shard] = newProjector(f, loss).project(ctx, tau[lo*f.d:hi*f.d], part, lo)
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// callers is the number of goroutines that work with a loss.
func callers(loss framework.Loss, threads int) int {
	if d, ok := loss.(framework.Distant); ok {
		return max(par.Threads(threads), d.Callers())
	}
	return par.Threads(threads)
}

// refineRows takes every tau_i to the minimum nearby.
func refineRows(ctx context.Context, tau []float64, f *sheet, loss framework.Loss, x Data, threads int) error {
	errs := make([]error, par.Shards(x.N))
	par.Do(par.Threads(threads), len(errs), func(_, shard int) {
		k := newProjector(f, loss)
		lo, hi := par.Bounds(x.N, shard)
		for i := lo; i < hi && errs[shard] == nil; i++ {
			row := Data{N: 1, D: x.D, X: x.Row(i)}
			own := tau[i*f.d : (i+1)*f.d]
			if errs[shard] = ctx.Err(); errs[shard] == nil {
				n := newtonRow{projector: k, ctx: ctx, e: rowEvaluation{sheet: f, loss: loss, data: row, tau: own}}
				errs[shard] = n.minimise(own)
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
