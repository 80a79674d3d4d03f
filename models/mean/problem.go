package mean

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
)

// Problem is the mean of rows as a framework.Problem, with one block, c in R^D.
// A Problem holds buffers: use it from one goroutine at a time.
type Problem struct {
	data    rows.Data
	loss    framework.Loss // original or smoothed
	plain   framework.Loss
	rounded framework.Loss // over the last length above 0; nil for none
	ctx     context.Context
	threads int
	blocks  []framework.Block
	workers []*worker
	sums    []*sums // per shard
}

// worker holds the buffers of one goroutine.
type worker struct{ r, g, values []float64 }

// sums is what a shard of rows adds up to.
type sums struct {
	cost    float64
	lengths []float64 // of the norms of gradients, one for each part of the mean
	grad    []float64 // D
	slack   []float64 // D: lengths of subgradients at kinks, see Stationarity
	err     error
}

// batchRows is the number of rows whose losses are computed at a time.
const batchRows = 64

// NewProblem prepares the mean of the rows. Evaluations end early with the error
// of ctx when it is done. threads below 1 stands for all processors.
func NewProblem(ctx context.Context, x rows.Data, loss framework.Loss, threads int) (*Problem, error) {
	if err := x.Validate(); err != nil {
		return nil, err
	}
	if loss == nil {
		return nil, fmt.Errorf("mean: no loss given: %w", rows.ErrInput)
	}
	if l, ok := loss.(rowloss.Dimensioned); ok && l.Dim() != x.D {
		return nil, fmt.Errorf("mean: loss %s is for rows of length %d, the data have %d columns: %w", loss.Name(), l.Dim(), x.D, rows.ErrInput)
	}
	p := &Problem{
		data: x, loss: loss, plain: loss, ctx: ctx, threads: par.Threads(threads),
		blocks: []framework.Block{{Name: "c", Manifold: manifolds.Euclidean(x.D)}},
		sums:   make([]*sums, par.Shards(x.N)),
	}
	p.workers = make([]*worker, p.threads)
	for i := range p.sums {
		p.sums[i] = &sums{lengths: make([]float64, p.parts()), grad: make([]float64, x.D), slack: make([]float64, x.D)}
	}
	return p, nil
}

// Blocks describes c.
func (p *Problem) Blocks() []framework.Block { return p.blocks }

// Evaluate returns the sum of weighted losses and its gradient.
func (p *Problem) Evaluate(grad, x framework.Point) (float64, error) {
	want := grad != nil && grad[0] != nil
	var cost float64
	step := p.data.D / p.parts()
	err := p.eachRow(x[0], func(w *worker, s *sums, from, to int) error {
		n, D := to-from, p.data.D
		var g []float64
		if want {
			g = w.g[:n*D]
		}
		if err := p.loss.Evaluate(w.values[:n], g, w.r[:n*D], D); err != nil {
			return err
		}
		for i := range n {
			weight := p.data.Weight(from + i)
			if weight > 0 {
				s.cost += weight * w.values[i]
			}
			if want {
				floats.AddScaled(s.grad, weight, g[i*D:(i+1)*D])
				for k := range s.lengths {
					at := i*D + k*step
					s.lengths[k] += weight * floats.Norm(g[at:at+step], 2)
				}
			}
		}
		return nil
	})
	if want {
		clear(grad[0])
	}
	for _, s := range p.sums {
		cost += s.cost
		if want {
			floats.Add(grad[0], s.grad)
		}
	}
	return cost, err
}

// eachRow calls work for batches of rows whose residuals at c are in w.r, with
// the sums of their shard, which start from zero.
func (p *Problem) eachRow(c []float64, work func(w *worker, s *sums, from, to int) error) error {
	D := p.data.D
	par.Do(p.threads, len(p.sums), func(id, shard int) {
		if p.workers[id] == nil {
			size := min(batchRows, p.data.N)
			p.workers[id] = &worker{r: make([]float64, size*D), g: make([]float64, size*D), values: make([]float64, size)}
		}
		w, s := p.workers[id], p.sums[shard]
		s.cost, s.err = 0, nil
		clear(s.lengths)
		clear(s.grad)
		clear(s.slack)
		lo, hi := par.Bounds(p.data.N, shard)
		for from := lo; from < hi && s.err == nil; from += batchRows {
			to := min(from+batchRows, hi)
			for i := from; i < to; i++ {
				floats.SubTo(w.r[(i-from)*D:(i-from+1)*D], c, p.data.Row(i))
			}
			if s.err = p.ctx.Err(); s.err == nil {
				if err := work(w, s, from, to); err != nil {
					s.err = fmt.Errorf("mean: loss %s: %w", p.plain.Name(), err)
				}
			}
		}
	})
	for _, s := range p.sums {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// SmoothingScale returns the median size of the residuals that are not zero: of
// their norms where the loss is radial, else of their entries. It is 0 for
// losses without kinks.
func (p *Problem) SmoothingScale(x framework.Point) (float64, error) {
	if _, ok := p.plain.(framework.Smoother); !ok {
		return 0, nil
	}
	return p.typical(x[0])
}

// typical is the median size of residuals.
func (p *Problem) typical(c []float64) (float64, error) {
	length := 1
	if _, radial := p.plain.(framework.Radial); radial {
		length = p.data.D
	}
	stride := 1 + p.data.N*p.data.D/length>>17
	var sizes []float64
	r := make([]float64, p.data.D)
	for i := 0; i < p.data.N; i += stride {
		floats.SubTo(r, c, p.data.Row(i))
		for k := 0; k < len(r); k += length {
			if size := floats.Norm(r[k:k+length], 2); size > 0 && p.data.Weight(i) > 0 {
				sizes = append(sizes, size)
			}
		}
	}
	if len(sizes) == 0 {
		return 0, p.ctx.Err()
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2], p.ctx.Err()
}

// Smooth evaluates the problem with the loss rounded over eps from now on, 0
// with the loss itself.
func (p *Problem) Smooth(eps float64) {
	l, ok := p.plain.(framework.Smoother)
	if !ok || eps == 0 {
		p.loss = p.plain
		return
	}
	p.rounded = l.Smooth(eps)
	p.loss = p.rounded
}

// parts is the number of independent parts of the mean.
func (p *Problem) parts() int {
	if rowloss.StructureOf(p.plain) == rowloss.StructureSeparable {
		return p.data.D
	}
	return 1
}
