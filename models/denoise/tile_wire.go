package denoise

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"runtime"

	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/denoise/internal/principal"
)

// tileFormat is the version of what tiles, queries, tasks and replies are encoded as.
// Machines of one type give the same bits; others may not.
var tileFormat = "scqm tiles 16 " + runtime.GOARCH

// appender is a writer that appends to its bytes.
type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

// pack encodes a value.
func pack(v any) ([]byte, error) { return appendPacked(nil, v) }

// appendPacked appends an encoded value.
func appendPacked(b []byte, v any) ([]byte, error) {
	e := gob.NewEncoder((*appender)(&b))
	if err := e.Encode(tileFormat); err != nil {
		return nil, err
	}
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b, nil
}

// unpack decodes a value, and refuses what is of another format.
func unpack(b []byte, v any) error {
	d := gob.NewDecoder(bytes.NewReader(b))
	var format string
	if err := d.Decode(&format); err != nil {
		return fmt.Errorf("denoise: these bytes are no part of tiles: %w: %w", err, ErrInput)
	}
	if format != tileFormat {
		return fmt.Errorf("denoise: parts of tiles are of %.40q, want %q; use one version of scqm and one type of machines everywhere: %w", format, tileFormat, ErrInput)
	}
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("denoise: parts of tiles are damaged: %w: %w", err, ErrInput)
	}
	return nil
}

// A tile is encoded in three sections, each after its length: what other tiles may ask for, charts, and what is
// its own. Tiles are cut far more often than they are worked on.

// tileWire is what other tiles may ask for.
type tileWire struct {
	Columns, All int
	Number       []int
	X, Weight    numbers
	Places       []numbers
	Eps          float64
	Trust        []numbers
	About        numbers
}

// ownWire is what a tile has for itself.
type ownWire struct {
	Lost []int
	Next toCome
	Done []bool
	Kept []former
}

// MarshalBinary encodes the tile.
func (t *Tile) MarshalBinary() ([]byte, error) { return t.AppendBinary(nil) }

// AppendBinary appends the encoded tile.
func (t *Tile) AppendBinary(all []byte) ([]byte, error) {
	for _, v := range []any{
		tileWire{t.columns, t.all, t.number, t.x, t.weight, lists(t.places), t.eps, lists(t.trust), t.about},
		t.wiredCharts(), ownWire{t.lost, t.next, t.done, t.kept},
	} {
		var err error
		start := len(all) + 8
		if all, err = appendPacked(binary.LittleEndian.AppendUint64(all, 0), v); err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint64(all[start-8:], uint64(len(all)-start))
	}
	return all, nil
}

// chartsWire are the charts of a tile.
type chartsWire struct{ Charts numbers }

func (t *Tile) wiredCharts() chartsWire { return chartsWire{t.charts} }

// section returns the first section of some bytes, and what comes after it.
func section(b []byte) (first, rest []byte, err error) {
	if len(b) < 8 || binary.LittleEndian.Uint64(b) > uint64(len(b)-8) {
		return nil, nil, fmt.Errorf("denoise: these bytes are no part of tiles: %w", ErrInput)
	}
	end := 8 + int(binary.LittleEndian.Uint64(b))
	return b[8:end], b[end:], nil
}

// UnmarshalBinary decodes a tile.
func (t *Tile) UnmarshalBinary(b []byte) error {
	rest, err := t.decode(b, true)
	if err != nil {
		return err
	}
	own, _, err := section(rest)
	if err != nil {
		return err
	}
	var w ownWire
	if err := unpack(own, &w); err != nil {
		return err
	}
	n := t.Rows()
	fits := (len(w.Next.Feet) == 0 || len(w.Next.Feet) == len(t.x)) && (len(w.Next.Trust) == 0 || len(w.Next.Trust) == n) &&
		(len(w.Next.About) == 0 || len(w.Next.About) == aboutWidth*n) && (len(w.Next.Charts) == 0 || n > 0 && len(w.Next.Charts)%n == 0) &&
		(len(w.Done) == 0 || len(w.Done) == n)
	for _, f := range w.Kept {
		fits = fits && f.fit(n)
	}
	if !fits {
		return t.misfit()
	}
	t.lost, t.next, t.done, t.kept = w.Lost, w.Next, w.Done, w.Kept
	return nil
}

// decode decodes what other tiles may ask for, with or without charts, and returns the bytes after it.
func (t *Tile) decode(b []byte, charts bool) (rest []byte, err error) {
	shared, rest, err := section(b)
	if err != nil {
		return nil, err
	}
	held, rest, err := section(rest)
	if err != nil {
		return nil, err
	}
	var w tileWire
	if err := unpack(shared, &w); err != nil {
		return nil, err
	}
	var c chartsWire
	if charts {
		if err := unpack(held, &c); err != nil {
			return nil, err
		}
	}
	*t = Tile{columns: w.Columns, all: w.All, number: w.Number, x: w.X, weight: w.Weight, places: plainLists(w.Places), eps: w.Eps, trust: plainLists(w.Trust), charts: c.Charts, about: w.About}
	n := len(w.Number)
	fits := w.Columns > 0 && len(w.X) == n*w.Columns && len(w.Trust) == len(w.Places) && (len(w.Weight) == 0 || len(w.Weight) == n) &&
		(len(w.About) == 0 || len(w.About) == aboutWidth*n) && (len(c.Charts) == 0 || n > 0 && len(c.Charts)%n == 0)
	for k, v := range w.Places {
		fits = fits && (len(v) == 0 || len(v) == len(w.X)) && (k >= len(w.Trust) || len(w.Trust[k]) == 0 || len(w.Trust[k]) == n)
	}
	if !fits {
		return nil, t.misfit()
	}
	return rest, nil
}

func (t *Tile) misfit() error {
	return fmt.Errorf("denoise: a tile of %d rows and %d columns has arrays of other lengths: %w", t.Rows(), t.columns, ErrInput)
}

// CutFrom is [Task.Cut] of an encoded tile, of which it decodes what it takes only.
func (k *Task) CutFrom(b []byte) (*Tile, error) {
	t := new(Tile)
	if _, err := t.decode(b, k.takesCharts()); err != nil {
		return nil, err
	}
	return k.Cut(t), nil
}

// fit tells whether the arrays are those of n rows.
func (f former) fit(n int) bool {
	return f.Columns > 0 && len(f.X) == n*f.Columns && (len(f.Place) == 0 || len(f.Place) == len(f.X)) && (len(f.Trust) == 0 || len(f.Trust) == n) &&
		(len(f.About) == 0 || len(f.About) == aboutWidth*n) && (len(f.Charts) == 0 || n > 0 && len(f.Charts)%n == 0)
}

// queriesWire are [Queries] as they are encoded.
type queriesWire struct {
	Columns int
	Number  []int
	X, Out  numbers
	Rows    []Row
}

// MarshalBinary encodes the queries.
func (q *Queries) MarshalBinary() ([]byte, error) { return q.AppendBinary(nil) }

// AppendBinary appends the encoded queries.
func (q *Queries) AppendBinary(b []byte) ([]byte, error) {
	return appendPacked(b, queriesWire{q.columns, q.number, q.x, q.result.X, q.result.Rows})
}

// UnmarshalBinary decodes queries.
func (q *Queries) UnmarshalBinary(b []byte) error {
	var w queriesWire
	if err := unpack(b, &w); err != nil {
		return err
	}
	n := len(w.Number)
	if w.Columns < 1 || len(w.X) != n*w.Columns || len(w.Out) != len(w.X) || len(w.Rows) != n {
		return fmt.Errorf("denoise: %d queries of %d columns have arrays of other lengths: %w", n, w.Columns, ErrInput)
	}
	*q = Queries{columns: w.Columns, number: w.Number, x: w.X, result: Result{X: w.Out, Rows: w.Rows}}
	return nil
}

// settingWire is a [setting] as it is encoded.
type settingWire struct {
	Neighbors         int
	Ridge, Scale, Cut float64
	Rounds, Steps     int
	Pilot, Uneven     bool
	Noisy, Between    bool
	Least             int
	Sides             float64
	Thin              bool
	Pooled            int
	Drawn             bool
	From              int
	KeepsSides        bool
	Creased           bool
	Bent              int
	OneIn             float64
	Bends             [3]float64
	Flat              float64
}

func (s setting) wire() settingWire {
	return settingWire{s.neighbors, s.Ridge, s.Scale, s.Cut, s.Rounds, s.Steps, s.pilot, s.uneven, s.noisy, s.between, s.least, s.Sides, s.thin, s.pooled, s.drawn, s.from, s.keepsSides, s.creased, s.bent, s.oneIn, [3]float64{s.bends.flat, s.bends.middle, s.bends.chance}, s.flat}
}

func (w settingWire) setting() setting {
	return setting{
		Setting:   chart.Setting{Ridge: w.Ridge, Scale: w.Scale, Cut: w.Cut, Rounds: w.Rounds, Steps: w.Steps, Sides: w.Sides},
		neighbors: w.Neighbors, pilot: w.Pilot, uneven: w.Uneven, noisy: w.Noisy, between: w.Between, least: w.Least, thin: w.Thin,
		pooled: w.Pooled, drawn: w.Drawn, from: w.From, keepsSides: w.KeepsSides, creased: w.Creased, bent: w.Bent, oneIn: w.OneIn, bends: bending{w.Bends[0], w.Bends[1], w.Bends[2]}, flat: w.Flat,
	}
}

// checkPlane checks a plane, and the linear model along its axes.
func checkPlane(p *principal.Plane, l *principal.PCA) error {
	if p != nil {
		if err := p.Check(); err != nil {
			return err
		}
	}
	if l != nil && (p == nil || l.Neighbors > 0 && len(l.Signal) != p.R) {
		return fmt.Errorf("denoise: %d variances for a linear model of other axes: %w", len(l.Signal), ErrInput)
	}
	return nil
}

// taskWire is a [Task] as it is encoded.
type taskWire struct {
	Tile    int
	Queries bool
	Sources []int
	Act     act
	First   bool
	All     int
	Dropped []int
	Wants   []want
	Field   field

	Neighbors, Some int
	Part, Parts     int
	Plane           *principal.Plane
	Linear          *principal.PCA
	KeepRows        bool
	Unchanged       bool
	Noise           float64
	Gain            numbers

	Auto                Auto
	Q, Median, Far, Cut float64
	Setting             settingWire

	Only, Diverge, Keep bool
	OrderSetting        settingWire

	Sizes  []int
	Ridges []float64
	Probes int
	Eps    float64

	Distances []float64
	Reach     float64
	Average   int
}

// MarshalBinary encodes the task, but for its threads.
func (k *Task) MarshalBinary() ([]byte, error) {
	w := taskWire{
		Tile: k.Tile, Queries: k.Queries, Sources: k.Sources, Act: k.act, First: k.first, All: k.all, Dropped: k.dropped,
		Wants: k.wants, Field: k.field, Neighbors: k.neighbors, Some: k.some, Part: k.order.of.at, Parts: k.order.of.many, Plane: k.plane,
		Linear: k.linear, KeepRows: k.keep, Unchanged: k.unchanged, Noise: float64(k.noise), Gain: k.gain,
		Auto: k.auto.method, Q: k.auto.q, Median: k.auto.tune.median, Far: k.auto.tune.far, Cut: k.auto.tune.cut, Setting: k.auto.setting.wire(),
		Only: k.order.some, Diverge: k.order.diverge, Keep: k.order.keep, OrderSetting: k.order.setting.wire(),
		Probes: k.probes, Eps: k.eps, Distances: k.distances, Reach: k.options.Reach, Average: k.options.Average,
	}
	for _, c := range k.candidates {
		w.Sizes, w.Ridges = append(w.Sizes, c.neighbors), append(w.Ridges, c.ridge)
	}
	return pack(w)
}

// UnmarshalBinary decodes a task.
func (k *Task) UnmarshalBinary(b []byte) error {
	var w taskWire
	if err := unpack(b, &w); err != nil {
		return err
	}
	if len(w.Sizes) != len(w.Ridges) {
		return fmt.Errorf("denoise: a task with %d numbers of neighbours and %d ridges: %w", len(w.Sizes), len(w.Ridges), ErrInput)
	}
	if err := checkPlane(w.Plane, w.Linear); err != nil {
		return err
	}
	*k = Task{
		Tile: w.Tile, Queries: w.Queries, Sources: w.Sources, act: w.Act, first: w.First, all: w.All, dropped: w.Dropped,
		wants: w.Wants, field: w.Field, neighbors: w.Neighbors, some: w.Some, plane: w.Plane,
		linear: w.Linear, keep: w.KeepRows, unchanged: w.Unchanged, noise: heldNoise(w.Noise), gain: w.Gain,
		auto:   autoSettings{method: w.Auto, q: w.Q, tune: tuning{w.Median, w.Far, w.Cut}, setting: w.Setting.setting()},
		order:  order{w.Only, portion{w.Part, w.Parts}, w.Diverge, w.Keep, w.OrderSetting.setting()},
		probes: w.Probes, eps: w.Eps, distances: w.Distances, options: Options{Reach: w.Reach, Average: w.Average},
	}
	for c, n := range w.Sizes {
		k.candidates = append(k.candidates, candidate{n, w.Ridges[c]})
	}
	return nil
}

// replyWire is a [Reply] as it is encoded.
type replyWire struct {
	Missed, Known, Rows int
	Dropped             []int
	Bounds              []lookup.Box
	Reach               float64
	Place               []int
	Values              numbers
}

// MarshalBinary encodes the reply.
func (r *Reply) MarshalBinary() ([]byte, error) {
	return pack(replyWire{r.Missed, r.Known, r.rows, r.dropped, r.bounds, r.reach, r.place, r.values})
}

// UnmarshalBinary decodes a reply.
func (r *Reply) UnmarshalBinary(b []byte) error {
	var w replyWire
	if err := unpack(b, &w); err != nil {
		return err
	}
	*r = Reply{w.Missed, w.Known, w.Rows, w.Dropped, w.Bounds, w.Reach, w.Place, w.Values}
	return nil
}

// tileFitWire is a [TileFit] as it is encoded.
type tileFitWire struct {
	N, D                int
	Plane               *principal.Plane
	Linear              *principal.PCA
	Note                string
	Unchanged           bool
	Fields              []field
	Bounds              [][]lookup.Box
	Auto                Auto
	Q, Median, Far, Cut float64
	Setting             settingWire
	Distances           []float64
	Halo                float64
	Report              TilingReport
}

// MarshalBinary encodes the fit, without its method and the tiles.
func (f *TileFit) MarshalBinary() ([]byte, error) {
	_, unchanged := f.method.(core.Unchanged)
	w := tileFitWire{
		Unchanged: unchanged, N: f.n, D: f.D, Plane: f.plane, Linear: f.linear, Note: f.note, Auto: f.auto.method, Q: f.auto.q, Median: f.auto.tune.median, Far: f.auto.tune.far, Cut: f.auto.tune.cut,
		Setting: f.auto.setting.wire(), Distances: f.distances, Halo: f.halo, Report: *f.report,
	}
	for _, of := range []field{rowField, placeField} {
		if b, ok := f.bounds[of]; ok {
			w.Fields, w.Bounds = append(w.Fields, of), append(w.Bounds, b)
		}
	}
	return pack(w)
}

// LoadTileFit decodes a fit of the method that [FitTiles] was given.
func LoadTileFit(b []byte, m Method) (*TileFit, error) {
	var w tileFitWire
	if err := unpack(b, &w); err != nil {
		return nil, err
	}
	if len(w.Fields) != len(w.Bounds) {
		return nil, fmt.Errorf("denoise: a fit to tiles with bounds of %d fields of %d: %w", len(w.Bounds), len(w.Fields), ErrInput)
	}
	if err := checkPlane(w.Plane, w.Linear); err != nil {
		return nil, err
	}
	switch {
	case w.Unchanged:
		m = core.Unchanged{Of: m, Why: w.Note}
	case w.Linear != nil:
		m = *w.Linear
	}
	f := &TileFit{tiling{
		method: m, n: w.N, D: w.D, plane: w.Plane, linear: w.Linear, note: w.Note, bounds: map[field][]lookup.Box{}, distances: w.Distances, halo: w.Halo, report: &w.Report,
		auto: autoSettings{method: w.Auto, q: w.Q, tune: tuning{w.Median, w.Far, w.Cut}, setting: w.Setting.setting()},
	}}
	for k, of := range w.Fields {
		f.bounds[of] = w.Bounds[k]
	}
	if s, ok := m.(classic.SCQM); ok && s.LossFor != nil {
		return f, f.takeLoss(s)
	}
	return f, nil
}
