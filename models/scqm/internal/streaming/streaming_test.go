package streaming

import (
	"context"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
)

// engine sums over rows in memory, on one thread.
type engine struct {
	source rows.Source
	loss   framework.Loss
}

func (e *engine) Shape() (n, D int) { return e.source.Shape() }

func (e *engine) Sum(ctx context.Context, r *blocks.Request) (*blocks.Partial, error) {
	loss := e.loss
	if near := losses.L2(); r.Kind == blocks.Sweep && r.Loss == blocks.Identity(near) {
		loss = near
	}
	return r.Partial(ctx, e.source, loss, blocks.Range{Count: blocks.Count(r.N)}, 1, nil)
}

// bentRows are rows near a bent sheet.
func bentRows(seed uint64, n, D int) rows.Data {
	noise := problemtest.Gaussians(seed, n*(D+2))
	x := rows.Data{N: n, D: D, X: noise[:n*D]}
	for i := range n {
		u, v := noise[n*D+2*i], noise[n*D+2*i+1]
		row := x.Row(i)
		for j := range row {
			a := float64(j + 1)
			row[j] = 0.1*row[j] + math.Sin(a)*u + math.Cos(2*a)*v + 0.1*math.Cos(3*a)*(u*u-v*v)
		}
	}
	return x
}
