package blocks

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Progress is called with the number of rows just summed, from several goroutines.
type Progress func(rows int)

// Range is the range of Count blocks that begins with block First.
type Range struct{ First, Count int }

// Partial computes the sums over a range of blocks of a source, in parallel. The loss must be that of the request;
// Partial does not check this.
func (r *Request) Partial(ctx context.Context, src rows.Source, loss framework.Loss, b Range, threads int, told Progress) (*Partial, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if n, d := src.Shape(); n != r.N || d != r.D {
		return nil, fmt.Errorf("scqm: a request for %d x %d rows, and a source of %d x %d: %w", r.N, r.D, n, d, rows.ErrInput)
	}
	if b.First < 0 || b.Count < 1 || b.First > Count(r.N)-b.Count {
		return nil, fmt.Errorf("scqm: blocks %d to %d of %d: %w", b.First, b.First+b.Count-1, Count(r.N), rows.ErrInput)
	}
	if loss != nil {
		threads = nearest.Callers(loss, threads)
	}
	s := &summation{
		r: r, src: src, loss: loss, told: told, length: r.length(), workers: make([]*worker, par.Threads(threads)), forest: newForest(r.merge()),
	}
	if err := s.sum(ctx, b); err != nil {
		return nil, err
	}
	return &Partial{First: b.First, Blocks: b.Count, hash: r.Hash(), nodes: s.forest.list()}, nil
}

// sum computes the sums over the blocks of a range.
func (s *summation) sum(ctx context.Context, b Range) error {
	errs := make([]error, b.Count)
	var failed atomic.Bool
	par.Do(min(len(s.workers), b.Count), b.Count, func(id, i int) {
		if failed.Load() {
			return
		}
		var n *node
		if n, errs[i] = s.block(ctx, id, b.First+i); errs[i] != nil {
			failed.Store(true)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forest.add(n)
	})
	return cmp.Or(errs...)
}

// Numbers returns the count of numbers that summing holds at once: for each goroutine a block with its kernel and the
// sums of a chunk, and the sums that are not yet merged.
func (r *Request) Numbers(threads int) float64 {
	d, m, q := float64(r.Latent), float64(r.Latent+r.S), float64(r.Latent*(r.Latent+1)/2)
	D, length := float64(r.D), float64(r.length())
	most := float64(min(Rows, r.N))
	perBlock := 5*most*D + most*(9+4*d+3*m+2*q+d*d)
	if r.Kind == Curvature { // derivatives of the rows of a block, and sums of its shards
		p := float64(arrowhead.OuterDim(sheet.New(r.D, r.Latent, r.S).Shape, false))
		perBlock += most*d*(p+4) + 20*(p*p+D*(1+m+q)*(1+m+q))
	}
	if r.Kind == Jackknife {
		p := float64(arrowhead.OuterDim(sheet.New(r.D, r.Latent, r.S).Shape, false))
		perBlock += influence.BatchRows*(2*d+2*m+4)*p + 3*p*p + 3*D*D
	}
	levels := float64(bits.Len(uint(Count(r.N))))
	return float64(threads)*(perBlock+2*length+4*D*m) + length*(levels+float64(threads)+2)
}

// summation is the state of one call of Partial.
type summation struct {
	r       *Request
	src     rows.Source
	loss    framework.Loss
	told    Progress
	length  int
	workers []*worker

	mu     sync.Mutex
	forest *forest
}

// worker is the memory of a goroutine.
type worker struct {
	kernel    kernel
	x, weight []float64
}

// worker returns the memory of goroutine id. It allocates it at the first call.
func (s *summation) worker(id int) (*worker, error) {
	if s.workers[id] == nil {
		most := min(Rows, s.r.N)
		k, err := s.r.kernel(s.loss, most)
		if err != nil {
			return nil, err
		}
		s.workers[id] = &worker{k, make([]float64, most*s.r.D), make([]float64, most)}
	}
	return s.workers[id], nil
}

// block reads one block and computes its sums.
func (s *summation) block(ctx context.Context, id, number int) (*node, error) {
	w, err := s.worker(id)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	first := number * Rows
	n := min(Rows, s.r.N-first)
	x := rows.Data{N: n, D: s.r.D}
	if x.X, err = s.read(ctx, w, first, n); err != nil {
		return nil, err
	}
	if weigher, ok := s.src.(rows.Weigher); ok {
		x.Weights = w.weight[:n]
		if err := weigher.ReadWeights(ctx, x.Weights, first); err != nil {
			return nil, err
		}
	}
	sums := make([]float64, s.length)
	sample, err := w.kernel.sum(ctx, sums, x, first)
	if err != nil {
		return nil, err
	}
	if s.told != nil {
		s.told(n)
	}
	return &node{Index: number, Sums: sums, Sample: sample}, nil
}

// read returns n rows of the source that begin at row first. It does not copy rows that are in memory.
func (s *summation) read(ctx context.Context, w *worker, first, n int) ([]float64, error) {
	if holder, ok := s.src.(rows.Holder); ok {
		if x, err := holder.Held(first, n); x != nil || err != nil {
			return x, err
		}
	}
	x := w.x[:n*s.r.D]
	return x, s.src.ReadRows(ctx, x, first)
}
