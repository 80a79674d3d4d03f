package scqm

import (
	"context"
	"fmt"
	"sync"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
)

// BlockRows is the number of rows of a block: the unit of every pass of [LearnFrom].
// Block b holds rows [b BlockRows, (b+1) BlockRows), the last one fewer. It is part of
// the definition of a fit, as other blocks round otherwise.
const BlockRows = blocks.Rows

// Blocks returns the number of blocks of n rows.
func Blocks(n int) int { return blocks.Count(n) }

type (
	// Source gives rows of a table that need not be in memory; [Data] is one.
	Source = rows.Source
	// Request says what is summed over all rows, and at which sheet. Send it to other
	// machines by MarshalBinary; all of them must run one version of this package.
	Request = blocks.Request
	// Partial is the sum over some blocks for a request. Partials of adjacent
	// blocks merge by [Request.Merge], in any order and grouping, to the same bits, and
	// go to other machines by MarshalBinary.
	Partial = blocks.Partial
	// BlockRange are the blocks from number First on, Count of them.
	BlockRange = blocks.Range
)

// Engine sums over all rows of a table, wherever they are.
type Engine interface {
	// Shape returns the number of rows and of columns.
	Shape() (n, D int)
	// Sum answers a request, by [SumRange] for parts of the blocks and [Request.Merge].
	Sum(ctx context.Context, r *Request) (*Partial, error)
}

// SumRange answers a request for a range of blocks of a source, on at most so many threads, below 1 all processors. The
// result does not depend on their number. It holds one block for each thread, with what summing
// takes, which is reserved before. A loss other than that of the request is refused.
func SumRange(ctx context.Context, r *Request, src Source, loss framework.Loss, of BlockRange, threads int) (*Partial, error) {
	return sumRange(ctx, r, src, loss, of, threads, nil)
}

func sumRange(ctx context.Context, r *Request, src Source, loss framework.Loss, of BlockRange, threads int, told blocks.Progress) (*Partial, error) {
	if r.Kind.Scores() && (loss == nil || blocks.Identity(loss) != r.Loss) {
		return nil, fmt.Errorf("scqm: a request for the loss %.80s is answered with another: %w", r.Loss, ErrInput)
	}
	held, err := memory.Reserve(fmt.Sprintf("blocks of %d rows of %d columns", BlockRows, r.D), wordBytes*r.Numbers(par.Threads(threads)), "use fewer threads")
	if err != nil {
		return nil, fmt.Errorf("scqm: %w", err)
	}
	defer held.Release()
	return r.Partial(ctx, src, loss, of, threads, told)
}

// ReadProgress is the progress of a read of all rows.
type ReadProgress struct {
	// Read counts the reads, from 1; Rows of N are done in this one.
	Read, Rows, N int
}

// LocalEngine computes the sums on this machine.
type LocalEngine struct {
	// Source gives the rows; a [rows.Weigher] gives weights too.
	Source Source
	// Loss is that of the fit.
	Loss framework.Loss
	// Threads bounds the goroutines; below 1 stands for all processors.
	Threads int
	// Observe is called after every block, from one goroutine at a time; nil is not.
	Observe func(ReadProgress)

	mu       sync.Mutex
	progress ReadProgress
}

// Shape implements [Engine].
func (e *LocalEngine) Shape() (n, D int) { return e.Source.Shape() }

// Sum implements [Engine].
func (e *LocalEngine) Sum(ctx context.Context, r *Request) (*Partial, error) {
	var told blocks.Progress
	if e.Observe != nil {
		e.progress = ReadProgress{Read: e.progress.Read + 1, N: r.N}
		told = func(rows int) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.progress.Rows = min(e.progress.Rows+rows, r.N)
			e.Observe(e.progress)
		}
	}
	return sumRange(ctx, r, e.Source, e.Loss, BlockRange{Count: Blocks(r.N)}, e.Threads, told)
}
