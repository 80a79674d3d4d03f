package denoise

import (
	"context"
	"fmt"
	"slices"

	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Partition cuts space into cells by planes at right angles to the axes, so that every
// cell has about as many rows of a sample as the others (J. L. Bentley 1975). Equal rows
// are in one cell.
type Partition struct {
	nodes []cellNode
	cells int
}

// cellNode is a cell, or divides those below it at a plane: rows of less go left.
type cellNode struct {
	axis        int // -1 for a cell
	at          float64
	left, right int
	cell        int
}

// NewPartition makes so many cells for the rows of a sample.
func NewPartition(sample rows.Data, cells int) *Partition {
	list := make([]int, sample.N)
	for i := range list {
		list[i] = i
	}
	p := &Partition{}
	p.divide(sample, list, max(cells, 1))
	return p
}

func (p *Partition) divide(x rows.Data, list []int, cells int) int {
	self := len(p.nodes)
	p.nodes = append(p.nodes, cellNode{axis: -1, cell: p.cells})
	b := lookup.NewBox(x.D)
	for _, i := range list {
		b.Include(x.Row(i))
	}
	if cells == 1 || len(list) < 2 || !(b.Width() > 0) {
		p.cells += cells // those that could not be cut off stay empty
		return self
	}
	axis := 0
	for j := range x.D {
		if b.Hi[j]-b.Lo[j] > b.Hi[axis]-b.Lo[axis] {
			axis = j
		}
	}
	slices.SortStableFunc(list, func(i, j int) int {
		a, b := x.Row(i)[axis], x.Row(j)[axis]
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	middle := len(list) * (cells / 2) / cells
	at := x.Row(list[middle])[axis]
	for middle > 0 && x.Row(list[middle-1])[axis] == at {
		middle--
	}
	left := p.divide(x, list[:middle], cells/2)
	right := p.divide(x, list[middle:], cells-cells/2)
	p.nodes[self] = cellNode{axis: axis, at: at, left: left, right: right}
	return self
}

// Cell returns the number of the cell of a row.
func (p *Partition) Cell(x []float64) int {
	n := p.nodes[0]
	for n.axis >= 0 {
		if x[n.axis] < n.at {
			n = p.nodes[n.left]
		} else {
			n = p.nodes[n.right]
		}
	}
	return n.cell
}

// cellSample bounds the rows that a partition is made for.
const cellSample = 1 << 16

// InTiles denoises queries by the rows of x, cut into so many tiles, one after the other
// in memory. The result is that of [Fit] and [Denoiser.Denoise]; see [FitTiles].
func InTiles(ctx context.Context, m Method, x, queries rows.Data, tiles int, how Tiling, o Options) (*Result, *TilingReport, error) {
	if tiles < 1 {
		return nil, nil, fmt.Errorf("denoise: in tiles: %d tiles, want at least 1: %w", tiles, ErrInput)
	}
	queries.Weights = nil
	for _, of := range []rows.Data{x, queries} {
		if err := core.CheckRows(of); err != nil {
			return nil, nil, err
		}
	}
	if err := o.Check(queries.D, x.D); err != nil {
		return nil, nil, err
	}
	e, err := newMemoryEngine(m, x, queries, tiles)
	if err != nil {
		return nil, nil, err
	}
	fit, err := FitTiles(ctx, m, e, how, o)
	if err != nil {
		return nil, nil, err
	}
	if err := fit.Denoise(ctx, e, o); err != nil {
		return nil, nil, err
	}
	return e.gather(queries), fit.report, nil
}

// memoryEngine has all tiles in memory.
type memoryEngine struct {
	method  Method
	columns int
	tiles   []*Tile
	queries []*Queries
}

func newMemoryEngine(m Method, x, queries rows.Data, tiles int) (*memoryEngine, error) {
	sample := rows.Data{N: min(x.N, cellSample), D: x.D}
	for k := range sample.N {
		sample.X = append(sample.X, x.Row(core.SomeRow(k, x.N, sample.N))...)
	}
	e := &memoryEngine{method: m, columns: x.D}
	cut := NewPartition(sample, tiles)
	err := inCells(cut, x, tiles, func(of rows.Data, number []int) error {
		t, err := NewTile(of, number)
		e.tiles = append(e.tiles, t)
		return err
	})
	if err == nil {
		err = inCells(cut, queries, tiles, func(of rows.Data, number []int) error {
			q, err := NewQueries(of, number)
			e.queries = append(e.queries, q)
			return err
		})
	}
	return e, err
}

// gather returns what became of the queries.
func (e *memoryEngine) gather(queries rows.Data) *Result {
	r, D := &Result{X: make([]float64, len(queries.X)), Rows: make([]Row, queries.N)}, queries.D
	for _, q := range e.queries {
		number, of := q.Result()
		for k, i := range number {
			copy(r.X[i*D:(i+1)*D], of.X[k*D:(k+1)*D])
			r.Rows[i] = of.Rows[k]
		}
	}
	return r
}

// inCells gives the rows of every cell with their numbers.
func inCells(cut *Partition, x rows.Data, cells int, take func(of rows.Data, number []int) error) error {
	of := make([]rows.Data, cells)
	number := make([][]int, cells)
	for i := range x.N {
		c := cut.Cell(x.Row(i))
		of[c].X = append(of[c].X, x.Row(i)...)
		if x.Weights != nil {
			of[c].Weights = append(of[c].Weights, x.Weights[i])
		}
		number[c] = append(number[c], i)
	}
	for c := range of {
		of[c].N, of[c].D = len(number[c]), x.D
		if err := take(of[c], number[c]); err != nil {
			return err
		}
	}
	return nil
}

func (e *memoryEngine) Columns() int { return e.columns }
func (e *memoryEngine) Tiles() int   { return len(e.tiles) }
func (e *memoryEngine) Queries() int { return len(e.queries) }

// Run does one task after the other, each with all threads.
func (e *memoryEngine) Run(ctx context.Context, tasks []*Task) ([]*Reply, error) {
	replies := make([]*Reply, len(tasks))
	for k, task := range tasks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var parts []*Tile
		for _, s := range task.Sources {
			parts = append(parts, task.Cut(e.tiles[s]))
		}
		var err error
		if task.Queries {
			replies[k], err = task.DoQueries(ctx, e.method, e.queries[task.Tile], parts)
		} else {
			replies[k], err = task.Do(ctx, e.method, e.tiles[task.Tile], parts)
		}
		if err != nil {
			return nil, err
		}
	}
	return replies, nil
}
