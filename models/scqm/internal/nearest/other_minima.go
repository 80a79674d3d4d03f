package nearest

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Move is a row's way to another place.
type Move struct {
	Row int
	Tau []float64 // d
}

// OtherMinima returns, for every row of a list that has several nearest points of their
// surroundings, in the Euclidean norm, the nearest one other than tau, by rows.
func OtherMinima(ctx context.Context, tau []float64, f *sheet.Sheet, x rows.Data, list []int, threads int) ([]Move, error) {
	parts := make([][]Move, par.Shards(len(list)))
	par.Do(par.Threads(threads), len(parts), func(_, shard int) {
		p := NewFootpoint(f)
		lo, hi := par.Bounds(len(list), shard)
		for _, i := range list[lo:hi] {
			if ctx.Err() != nil {
				break
			}
			if other := p.other(tau[i*f.Latent:(i+1)*f.Latent], x.Row(i)); other != nil {
				parts[shard] = append(parts[shard], Move{Row: i, Tau: slices.Clone(other)})
			}
		}
	})
	return slices.Concat(parts...), ctx.Err()
}

// other returns the nearest point of its surroundings other than tau, nil if there is
// none; it is valid until the next row.
func (p *Footpoint) other(tau, x []float64) []float64 {
	for _, at := range p.minima[:p.find(x)] {
		near := sameMinimum * math.Max(floats.Norm(tau, 2), floats.Norm(at, 2))
		if floats.Distance(tau, at, 2) > near && (framework.Point{at}).Finite() {
			return at
		}
	}
	return nil
}
