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
	"github.com/scqm/scqm/models/scqm/internal/streaming"
)

// BlockRows is the number of rows of a block, the unit of every pass of [LearnFrom]. Block b holds rows [b BlockRows,
// (b+1) BlockRows); the last one has fewer. BlockRows is part of the definition of a fit, as other blocks round
// differently.
const BlockRows = blocks.Rows

// Blocks returns the number of blocks of n rows.
func Blocks(n int) int { return blocks.Count(n) }

type (
	// Source provides rows of a table that need not be in memory; [Data] is a Source.
	Source = rows.Source
	// Request describes the sums over all rows and the sheet at which they are computed. MarshalBinary sends it to
	// other machines, which must all run one version of this package.
	Request = blocks.Request
	// Partial is the sum over some blocks for a request. [Request.Merge] merges partials of adjacent blocks, with
	// bit-identical results for any order and grouping. MarshalBinary sends them to other machines.
	Partial = blocks.Partial
	// BlockRange is the range of Count blocks from number First.
	BlockRange = blocks.Range
	// Engine computes sums over all rows of a table, wherever they are stored. Its Shape returns the number of rows
	// and of columns. Its Sum uses [SumRange] for ranges of blocks, and [Request.Merge].
	Engine = streaming.Engine
)

// SumRange computes the sums of a request over a range of blocks of a source, on at most the given number of threads
// (below 1: all processors). The result does not depend on the number of threads. It first reserves the memory of one
// block and its sums per thread. It rejects a loss other than that of the request.
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
	// Read is the number of the current read, from 1. Rows is how many of the N rows this read has passed so far.
	Read, Rows, N int
}

// LocalEngine computes the sums on this machine.
type LocalEngine struct {
	// Source provides the rows; a [rows.Weigher] also provides weights.
	Source Source
	// Loss is the loss of the fit.
	Loss framework.Loss
	// Threads bounds the goroutines; below 1 stands for all processors.
	Threads int
	// Observe, if not nil, is called after every block, from one goroutine at a time.
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
