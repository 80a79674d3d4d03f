package main

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/scqm"
)

// block is a range of consecutive rows of a table.
type block struct {
	scqm.Data
	names []string // of the columns; nil if the columns have no names
}

const (
	// blockNumbers is the number of float64 values in a block (1 MiB). The memory used
	// then does not depend on the number of rows, and each thread gets many rows.
	blockNumbers = 1 << 17
	// blockRows is the minimum number of rows of a block, whatever the number of columns.
	blockRows = 16
)

// blocks reads the rows of a source block by block.
type blocks struct {
	src   *dataset.Source
	rows  int // rows of a block
	done  int
	names []string
	x     []float64
}

// newBlocks returns a reader of src. columns is the number of output columns; it limits the rows of a block.
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

// next returns the next block, which is valid until the next call. The block is empty
// at the end of the source.
func (b *blocks) next(ctx context.Context) (block, error) {
	n, d := b.src.Shape()
	x := scqm.Data{N: min(b.rows, n-b.done), D: d, First: b.done}
	x.X = b.x[:x.N*d]
	b.done += x.N
	return block{x, b.names}, b.src.ReadRows(ctx, x.X, x.First)
}

// check reads all rows once if there are several blocks. An invalid row is then found
// before any output is written.
func (b *blocks) check(ctx context.Context) error {
	if n, _ := b.src.Shape(); n <= b.rows {
		return nil
	}
	_, err := cli.Await(ctx, func() (struct{}, error) { return struct{}{}, b.src.Check(ctx) })
	return err
}
