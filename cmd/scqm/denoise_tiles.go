package main

import (
	"context"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/scqm"
)

const (
	// defaultTileRows is the number of rows of a tile where memory is what tiles are for, or
	// as much less as there is room for, down to leastTileRows.
	defaultTileRows, leastTileRows = 50_000, 500
	// tileSample bounds the rows that tiles are cut by.
	tileSample = 1 << 16
	// spoolRows is the number of rows read at a time, and handed to their tiles.
	spoolRows = 1 << 14
)

// tileFlags are the flags of work in tiles.
type tileFlags struct {
	rows int
	halo float64
}

func (t *tileFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(cli.Count(&t.rows), "tile-rows", fmt.Sprintf("work on so many rows at a time, for files beyond memory; the result does not depend on it (default at most %d, where there is no room for all rows)", defaultTileRows))
	flags.Var(cli.NonNegative(&t.halo), "halo", "distance around a tile in which it knows all rows at first; the result does not depend on it (default estimated)")
}

// wholeFlags are the flags that take all rows in memory.
var wholeFlags = []string{"report", "normals", "curvature", "drop-outliers", "partial", "share", "weights"}

// check refuses flags that do not go with tiles.
func (t *tileFlags) check(cmd *cobra.Command, f *denoiseFlags, path string) error {
	if t.rows == 0 {
		return cli.Refuse(cmd, "without --tile-rows", "halo")
	}
	if err := cli.Refuse(cmd, "beside --tile-rows, as it takes all rows in memory", wholeFlags...); err != nil {
		return err
	}
	for _, name := range []string{path, f.queries, f.output} {
		if name != "-" && dataset.IsPointCloud(name) {
			return cli.Usagef("--tile-rows: %s is a point cloud, which is read as a whole; convert it to .npy", name)
		}
	}
	return nil
}

// canTile reports whether work that does not fit into memory can go on in tiles: the rows
// can be read again, and nothing is asked that takes all of them.
func (f *denoiseFlags) canTile(cmd *cobra.Command, path string) bool {
	trial := tileFlags{rows: defaultTileRows}
	return path != "-" && f.queries != "-" && trial.check(cmd, f, path) == nil
}

// runInTiles denoises the rows of files that stay there.
func (f *denoiseFlags) runInTiles(cmd *cobra.Command, path string, m denoise.Method) error {
	ctx := cmd.Context()
	x, err := f.data.Open(cmd, path)
	if err != nil {
		return err
	}
	defer x.Close()
	y := x
	if f.queries != "" {
		if y, err = f.data.Open(cmd, f.queries); err != nil {
			return err
		}
		defer y.Close()
	}
	n, D := x.Shape()
	if _, columns := y.Shape(); columns != D {
		return cli.Usagef("%s: rows of %d columns do not fit %s, which has %d", f.queries, columns, path, D)
	}
	began := time.Now()
	o := denoise.Options{Threads: f.threads, Average: f.average, Axes: f.principalAxes()}
	tileRows, held, err := f.tiles.reserve(m, n, D, o)
	if err != nil {
		return err
	}
	defer held.Release()
	e, err := newDiskEngine(ctx, held, x, y, tileRows)
	if err != nil {
		return err
	}
	defer e.Close()
	fit, err := f.fitTiles(cmd, m, e, o)
	if err != nil {
		return err
	}
	if err := errors.Join(x.Unchanged(), y.Unchanged()); err != nil {
		return err
	}
	count, _ := y.Shape()
	f.latent = fit.Latent()
	s := f.newSummary(fit.Method(), n, D, x.Names())
	table := dataset.Table{Rows: count, Cols: D, Names: y.Names()}
	if err := cli.WriteRows(cmd, f.output, table, func(write func([]float64) error) error { return e.write(ctx, s, count, write) }); err != nil {
		return err
	}
	s.Seconds = time.Since(began).Seconds()
	s.take(fit.Method(), fit.Axes(), fit.Note())
	report := fit.Report()
	s.Tiles = &tiledWork{e.Tiles(), report.Rounds, report.Again}
	return s.print(cmd, f)
}

// reserve returns the rows of a tile, those that were asked for or else as many as there is
// room for, and holds the memory that a task takes.
func (t *tileFlags) reserve(m denoise.Method, n, columns int, o denoise.Options) (int, *heldTask, error) {
	rows := t.rows
	if rows == 0 {
		rows = defaultTileRows
	}
	for rows = min(rows, n); ; rows = max(rows/2, leastTileRows) {
		task := &heldTask{method: m, n: n, columns: columns, options: o}
		err := task.take(rows, denoise.KnownRows(m, rows, n, columns, o))
		if err == nil {
			return rows, task, nil
		}
		if t.rows > 0 || rows <= leastTileRows {
			return 0, nil, err
		}
	}
}

// heldTask is the memory that is held for one task at a time.
type heldTask struct {
	method     denoise.Method
	n, columns int
	options    denoise.Options
	bytes      float64
	held       []*memory.Reservation
}

// take holds what a task on so many rows takes that knows so many, beside what is held for
// it already.
func (h *heldTask) take(tile int, known float64) error {
	bytes := denoise.TaskBytes(h.method, tile, known, h.n, h.columns, h.options)
	if bytes <= h.bytes {
		return nil
	}
	what := fmt.Sprintf("denoise in tiles: %d rows of %d columns, with %.0f around them,", tile, h.columns, max(known-float64(tile), 0))
	more, err := memory.Reserve(what, bytes-h.bytes, "take smaller tiles, fewer threads or fewer columns")
	if err != nil {
		return err
	}
	h.bytes, h.held = bytes, append(h.held, more)
	return nil
}

// Release gives all of it back.
func (h *heldTask) Release() {
	for _, r := range h.held {
		r.Release()
	}
}

// fitTiles fits, and denoises, under a progress bar.
func (f *denoiseFlags) fitTiles(cmd *cobra.Command, m denoise.Method, e *diskEngine, o denoise.Options) (*denoise.TileFit, error) {
	fitting, denoising, end := f.watch(cmd)
	defer end()
	how := denoise.Tiling{Halo: -1}
	if cmd.Flags().Changed("halo") {
		how.Halo = f.tiles.halo
	}
	o.Progress = fitting
	fit, err := denoise.FitTiles(cmd.Context(), m, e, how, o)
	if err != nil {
		return nil, err
	}
	o.Progress = denoising
	return fit, fit.Denoise(cmd.Context(), e, o)
}

// diskEngine is a [denoise.TileEngine] of tiles in a temporary file, of which one task at
// a time is in memory.
type diskEngine struct {
	memory         *heldTask
	columns        int
	tiles, queries *dataset.Blobs
	count          int    // of tiles, and of parts of the queries
	bytes          []byte // of the part read or written last
}

func newDiskEngine(ctx context.Context, held *heldTask, x, y scqm.Source, tileRows int) (*diskEngine, error) {
	n, D := x.Shape()
	e := &diskEngine{memory: held, columns: D, count: (n + tileRows - 1) / tileRows}
	cut, err := partition(ctx, x, e.count)
	if err != nil {
		return nil, err
	}
	e.tiles, err = e.spool(ctx, cut, x, func(of scqm.Data, number []int) (encoding.BinaryAppender, error) { return denoise.NewTile(of, number) })
	if err != nil {
		return nil, err
	}
	e.queries, err = e.spool(ctx, cut, y, func(of scqm.Data, number []int) (encoding.BinaryAppender, error) {
		return denoise.NewQueries(of, number)
	})
	if err != nil {
		e.tiles.Close()
		return nil, err
	}
	return e, nil
}

// partition cuts space by rows spread evenly over the source.
func partition(ctx context.Context, x scqm.Source, tiles int) (*denoise.Partition, error) {
	n, D := x.Shape()
	sample := scqm.Data{N: min(n, tileSample), D: D}
	sample.X = make([]float64, sample.N*D)
	for k := range sample.N {
		if err := x.ReadRows(ctx, sample.X[k*D:(k+1)*D], k*n/sample.N); err != nil {
			return nil, err
		}
	}
	return denoise.NewPartition(sample, tiles), nil
}

// spool hands the rows of a source to their cells, and makes a part of each.
func (e *diskEngine) spool(ctx context.Context, cut *denoise.Partition, x scqm.Source, newPart func(scqm.Data, []int) (encoding.BinaryAppender, error)) (*dataset.Blobs, error) {
	raw, err := dataset.NewBlobs("tiles", e.count)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	if err := e.sort(ctx, cut, x, raw); err != nil {
		return nil, err
	}
	parts, err := dataset.NewBlobs("tiles", e.count)
	if err != nil {
		return nil, err
	}
	for k := range e.count {
		if err = ctx.Err(); err == nil {
			err = e.makePart(raw, parts, k, newPart)
		}
		if err != nil {
			parts.Close()
			return nil, err
		}
	}
	return parts, nil
}

// sort appends every row, after its number, to the bytes of its cell.
func (e *diskEngine) sort(ctx context.Context, cut *denoise.Partition, x scqm.Source, raw *dataset.Blobs) error {
	n, D := x.Shape()
	block := make([]float64, min(n, spoolRows)*D)
	waiting := make([][]byte, e.count)
	for first := 0; first < n; first += spoolRows {
		count := min(spoolRows, n-first)
		if err := x.ReadRows(ctx, block[:count*D], first); err != nil {
			return err
		}
		for i := range count {
			row := block[i*D : (i+1)*D]
			c := cut.Cell(row)
			b := binary.LittleEndian.AppendUint64(waiting[c], uint64(first+i))
			for _, v := range row {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
			}
			waiting[c] = b
		}
		for c, b := range waiting {
			if len(b) > 0 {
				if err := raw.Append(c, b); err != nil {
					return err
				}
				waiting[c] = b[:0]
			}
		}
	}
	return nil
}

// makePart makes part k of the bytes of its cell.
func (e *diskEngine) makePart(raw, parts *dataset.Blobs, k int, newPart func(scqm.Data, []int) (encoding.BinaryAppender, error)) error {
	b, err := raw.Get(e.bytes, k)
	if err != nil {
		return err
	}
	e.bytes = b
	size := 8 * (1 + e.columns)
	x := scqm.Data{N: len(b) / size, D: e.columns}
	x.X = make([]float64, 0, x.N*x.D)
	number := make([]int, x.N)
	for i := range number {
		number[i] = int(binary.LittleEndian.Uint64(b[i*size:]))
		for j := 8; j < size; j += 8 {
			x.X = append(x.X, math.Float64frombits(binary.LittleEndian.Uint64(b[i*size+j:])))
		}
	}
	part, err := newPart(x, number)
	if err != nil {
		return err
	}
	return e.put(parts, k, part)
}

// put writes a part. As get does, it goes through the same bytes every time: parts are large, and memory
// that is taken anew for each of them takes the system longer to clear than it takes to encode them.
func (e *diskEngine) put(to *dataset.Blobs, k int, v encoding.BinaryAppender) error {
	b, err := v.AppendBinary(e.bytes[:0])
	if err != nil {
		return err
	}
	e.bytes = b
	return to.Put(k, b)
}

// get reads a part, which keeps nothing of the bytes.
func (e *diskEngine) get(from *dataset.Blobs, k int, v encoding.BinaryUnmarshaler) error {
	b, err := from.Get(e.bytes, k)
	if err != nil {
		return err
	}
	e.bytes = b
	return v.UnmarshalBinary(b)
}

// Columns implements [denoise.TileEngine].
func (e *diskEngine) Columns() int { return e.columns }

// Tiles implements [denoise.TileEngine].
func (e *diskEngine) Tiles() int { return e.count }

// Queries implements [denoise.TileEngine].
func (e *diskEngine) Queries() int { return e.count }

// Run does one task after the other, each with all threads, by tiles that are read anew for
// each of them.
func (e *diskEngine) Run(ctx context.Context, tasks []*denoise.Task) ([]*denoise.Reply, error) {
	replies := make([]*denoise.Reply, len(tasks))
	for k, task := range tasks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if replies[k], err = e.do(ctx, task); err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// do does a task, once there is room for it.
func (e *diskEngine) do(ctx context.Context, task *denoise.Task) (*denoise.Reply, error) {
	var parts []*denoise.Tile
	known := 0
	for _, s := range task.Sources {
		b, err := e.tiles.Get(e.bytes, s)
		if err != nil {
			return nil, err
		}
		e.bytes = b
		part, err := task.CutFrom(b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		known += parts[len(parts)-1].Rows()
	}
	if task.Queries {
		q := new(denoise.Queries)
		if err := e.get(e.queries, task.Tile, q); err != nil {
			return nil, err
		}
		return e.run(task, q.Rows(), known, e.queries, q, func() (*denoise.Reply, error) { return task.DoQueries(ctx, e.memory.method, q, parts) })
	}
	t := new(denoise.Tile)
	if err := e.get(e.tiles, task.Tile, t); err != nil {
		return nil, err
	}
	return e.run(task, t.Rows(), known, e.tiles, t, func() (*denoise.Reply, error) { return task.Do(ctx, e.memory.method, t, parts) })
}

// run does a task on so many rows that knows so many, and keeps what it has changed.
func (e *diskEngine) run(task *denoise.Task, rows, known int, to *dataset.Blobs, v encoding.BinaryAppender, do func() (*denoise.Reply, error)) (*denoise.Reply, error) {
	if err := e.memory.take(rows, float64(known)); err != nil {
		return nil, err
	}
	reply, err := do()
	if err != nil {
		return nil, err
	}
	if !task.Changes() {
		return reply, nil
	}
	return reply, e.put(to, task.Tile, v)
}

// write writes what became of the queries in their order, and tells the summary.
func (e *diskEngine) write(ctx context.Context, s *denoiseSummary, count int, write func([]float64) error) error {
	blocks := (count + spoolRows - 1) / spoolRows
	ordered, err := dataset.NewBlobs("denoised rows", blocks)
	if err != nil {
		return err
	}
	defer ordered.Close()
	size := 8 * (1 + e.columns)
	m := newMedians(count)
	for k := range e.count {
		if err := ctx.Err(); err != nil {
			return err
		}
		q := new(denoise.Queries)
		if err := e.get(e.queries, k, q); err != nil {
			return err
		}
		number, r := q.Result()
		var b []byte
		for i, at := range number {
			b = binary.LittleEndian.AppendUint64(b, uint64(at))
			for _, v := range r.X[i*e.columns : (i+1)*e.columns] {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
			}
			m.add(s, at, r.Rows[i])
			if i+1 == len(number) || number[i+1]/spoolRows != at/spoolRows {
				if err := ordered.Append(at/spoolRows, b); err != nil {
					return err
				}
				b = b[:0]
			}
		}
	}
	m.end(s)
	block := make([]float64, spoolRows*e.columns)
	for k := range blocks {
		b, err := ordered.Get(nil, k)
		if err != nil {
			return err
		}
		for ; len(b) > 0; b = b[size:] {
			at := (int(binary.LittleEndian.Uint64(b)) - k*spoolRows) * e.columns
			for j := range e.columns {
				block[at+j] = math.Float64frombits(binary.LittleEndian.Uint64(b[8+8*j:]))
			}
		}
		if err := write(block[:min(spoolRows, count-k*spoolRows)*e.columns]); err != nil {
			return err
		}
	}
	return nil
}

// Close removes what was kept.
func (e *diskEngine) Close() error { return errors.Join(e.tiles.Close(), e.queries.Close()) }
