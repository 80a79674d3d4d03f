package main

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/scqm"
)

// block is a part of the rows of a table.
type block struct {
	scqm.Data
	names []string // of the columns, nil where they have none
}

const (
	// blockNumbers is the size of a block: a megabyte, so that memory does not depend
	// on the number of rows, and many rows for every thread.
	blockNumbers = 1 << 17
	// blockRows is the least number of rows of a block, however wide they are.
	blockRows = 16
)

// blocks reads the rows of a source one block after the other.
type blocks struct {
	src   *dataset.Source
	rows  int // of a block
	done  int
	names []string
	x     []float64
}

// newBlocks reads blocks of rows of which so many columns come out.
func newBlocks(src *dataset.Source, columns int) (*blocks, error) {
	n, d := src.Shape()
	b := &blocks{src: src, rows: min(n, max(blockNumbers/max(d, columns), blockRows)), names: src.Names()}
	what := fmt.Sprintf("%d rows of %d columns", b.rows, d)
	if err := memory.Check(what, 8*float64(b.rows)*float64(d), "take fewer columns"); err != nil {
		return nil, err
	}
	b.x = make([]float64, b.rows*d)
	return b, nil
}

// next returns the next block, which lasts until the call after; it is empty after
// the last one.
func (b *blocks) next(ctx context.Context) (block, error) {
	n, d := b.src.Shape()
	x := scqm.Data{N: min(b.rows, n-b.done), D: d, First: b.done}
	x.X = b.x[:x.N*d]
	b.done += x.N
	return block{x, b.names}, b.src.ReadRows(ctx, x.X, x.First)
}

// check reads all rows once, where there are several blocks: what cannot be taken
// back is written when none of the rows is refused.
func (b *blocks) check(ctx context.Context) error {
	if n, _ := b.src.Shape(); n <= b.rows {
		return nil
	}
	_, err := cli.Await(ctx, func() (struct{}, error) { return struct{}{}, b.src.Check(ctx) })
	return err
}
