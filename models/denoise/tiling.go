package denoise

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// TileEngine keeps tiles and queries, wherever they are, and does tasks on them.
type TileEngine interface {
	// Columns returns the number of columns.
	Columns() int
	// Tiles and Queries return how many there are.
	Tiles() int
	Queries() int
	// Run does tasks, all of which may be done at the same time: what sources give to
	// one is not changed by another. Replies come in the order of the tasks.
	Run(ctx context.Context, tasks []*Task) ([]*Reply, error)
}

// Tiling says how rows are denoised in tiles.
type Tiling struct {
	// Halo is the distance around a tile in which it knows all rows at first, in the
	// unit of the rows; below 0 it is estimated. The result does not depend on it: rows
	// whose neighbours may be beyond are done again with twice the halo.
	Halo float64
}

// TilingReport says what denoising in tiles has cost.
type TilingReport struct {
	// Passes over all rows or some of them, and rounds of these.
	Passes, Rounds int
	// Read counts the rows that tasks knew, Again the rows that were left to a further
	// round, over all passes.
	Read, Again int
}

// TileFit is a method fitted to the rows of tiles, which hold a part of what it has found.
type TileFit struct{ tiling }

// FitTiles prepares a method to denoise rows by those of all tiles of an engine, as [Fit]
// does. Sharing charts, the methods mfit, kde and logkde, and the choice of a number of
// neighbours by [Select] take all rows at once; they are errors, as are rows whose size is
// beyond 2^100 or below 2^-100. The queries of the engine do not matter.
//
// Every lookup of neighbours, in every pass, must show that no row beyond what a tile
// knows could be among them; a row with one that does not is done again in a next round.
func FitTiles(ctx context.Context, m Method, e TileEngine, how Tiling, o Options) (*TileFit, error) {
	f := &TileFit{tiling{ctx: ctx, method: m, engine: e, halo: how.Halo, o: o, D: e.Columns(), report: &TilingReport{}}}
	if err := f.check(); err != nil {
		return nil, err
	}
	along, err := wantsPlane(m, f.D, o)
	if err != nil {
		return nil, err
	}
	if err := f.survey(); err != nil {
		return nil, err
	}
	if along {
		if err := f.findAxes(); err != nil {
			return nil, err
		}
	}
	if f.linear == nil {
		err = f.choose()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Method returns the method, with the settings that it has taken from the rows.
func (f *TileFit) Method() Method { return f.method }

// Latent is that of [Denoiser.Latent].
func (f *TileFit) Latent() int { return core.LatentOf(onPlane(f.method, f.plane)) }

// Note says why the method is not the one asked for; it is empty where it is.
func (f *TileFit) Note() string { return f.note }

// Axes is the number of principal axes in whose coordinates charts are made, 0 where
// these are the columns.
func (f *TileFit) Axes() int {
	if f.plane == nil {
		return 0
	}
	return f.plane.R
}

// Report says what all passes so far have cost.
func (f *TileFit) Report() TilingReport { return *f.report }

// Denoise denoises the queries of an engine with the tiles as [FitTiles] has left them. The
// result is that of [Denoiser.Denoise] after [Fit] with all rows, to the last bit, on machines
// of one type.
func (f *TileFit) Denoise(ctx context.Context, e TileEngine, o Options) error {
	f.ctx, f.engine, f.o = ctx, e, o
	if err := f.check(); err != nil {
		return err
	}
	if e.Columns() != f.columns() {
		return o.Check(e.Columns(), f.columns())
	}
	return f.denoise()
}

// tiling is work on tiles.
type tiling struct {
	ctx    context.Context
	method Method
	engine TileEngine
	halo   float64
	o      Options
	report *TilingReport

	n, D      int // rows of positive weight, and columns, or coordinates on the plane
	plane     *principal.Plane
	rival     *principal.Linear // that charts are compared with
	linear    *principal.PCA    // the method where that is better, without its plane
	note      string
	bounds    map[field][]lookup.Box
	auto      autoSettings
	eps       float64
	probes    int
	distances []float64
}

// check refuses what takes all rows at once.
func (t *tiling) check() error {
	why := ""
	switch m := t.method.(type) {
	case classic.LPCA, classic.MLS, classic.SPH, classic.QMF, classic.SCQM, principal.PCA, Auto, core.Unchanged:
	case SelectDimension:
		why = fmt.Sprintf("%s: the dimension is chosen by fits to all rows and to moved ones; give it", m.Name())
	case Select:
		why = fmt.Sprintf("%s: a number of neighbours is chosen by fits to all rows and to moved ones; give a number", m.Name())
	case classic.MFIT:
		why = "mfit: the tangent planes of all neighbours have neighbours of their own, which tiles do not follow; choose auto or mls"
	case classic.KDE:
		why = m.Name() + ": every kernel reaches rows far away; choose auto or mls"
	default:
		why = m.Name() + ": a method that tiles do not know may look at all rows"
	}
	if why == "" && t.o.Share > 0 {
		why = "share: which chart serves a row depends on all rows in their order"
	}
	if why != "" {
		return fmt.Errorf("denoise: in tiles: %s: %w", why, ErrInput)
	}
	if math.IsNaN(t.halo) {
		return fmt.Errorf("denoise: in tiles: halo is NaN, want a number: %w", ErrInput)
	}
	return t.o.Check(t.D, t.D)
}

// each makes a task for every tile that has rows of the field.
func (t *tiling) each(make func(tile int) *Task) []*Task {
	var tasks []*Task
	for k, b := range t.bounds[rowField] {
		if !b.Empty() {
			tasks = append(tasks, make(k))
		}
	}
	return tasks
}

// rowField are the rows as they came, placeField their places.
var (
	rowField   = field{rowsThemselves, true}
	placeField = field{rowsThemselves, false}
)

// survey counts and numbers the rows.
func (t *tiling) survey() error {
	tasks := make([]*Task, t.engine.Tiles())
	for k := range tasks {
		tasks[k] = &Task{Tile: k, act: actSurvey}
	}
	replies, err := t.engine.Run(t.ctx, tasks)
	if err != nil {
		return err
	}
	t.bounds = map[field][]lookup.Box{}
	var dropped []int
	for _, r := range replies {
		dropped = append(dropped, r.dropped...)
		t.n += r.rows
		t.bounds[rowField] = append(t.bounds[rowField], r.bounds[0])
	}
	if t.n == 0 {
		return fmt.Errorf("denoise: no row has a weight above 0: %w", ErrInput)
	}
	if err := t.checkSpan(); err != nil {
		return err
	}
	slices.Sort(dropped)
	_, err = t.engine.Run(t.ctx, t.each(func(k int) *Task {
		return &Task{Tile: k, act: actNumber, all: t.n, dropped: dropped}
	}))
	return err
}

// checkSpan refuses rows that would take another unit.
func (t *tiling) checkSpan() error {
	if size := t.whole(rowField).Width(); size > core.MaxSpan || rows.UnitOf(size) != 1 || rows.UnitOf(size/2) != 1 {
		return fmt.Errorf("denoise: in tiles: the rows span %.2g, beyond what tiles work with; rescale them: %w", size, ErrInput)
	}
	return nil
}

// whole is the box of all values of a field.
func (t *tiling) whole(f field) lookup.Box {
	b := lookup.NewBox(t.D)
	for _, of := range t.boundsOf(f) {
		b.Join(of)
	}
	return b
}

// boundsOf are the boxes of the values of a field, by tile.
func (t *tiling) boundsOf(f field) []lookup.Box {
	if known, ok := t.bounds[f]; ok {
		return known
	}
	moved := make([]lookup.Box, len(t.bounds[rowField]))
	for k, b := range t.bounds[rowField] {
		if moved[k] = b; f.Probe != rowsThemselves && !b.Empty() {
			moved[k] = b.Widen(t.eps)
		}
	}
	return moved
}

// choose settles what the method takes from all rows.
func (t *tiling) choose() error {
	if _, err := t.method.Size(t.n, t.D); err != nil {
		left, err := core.Instead(t.method, err)
		if err == nil {
			t.method, t.note = left, left.Why
		}
		return err
	}
	switch m := t.method.(type) {
	case Auto:
		return t.chooseCharts(m)
	case classic.SCQM:
		if m.LossFor != nil {
			return t.makeLoss(m)
		}
	}
	return nil
}

// chooseCharts chooses the charts of auto, or the linear model in place of them.
func (t *tiling) chooseCharts(m Auto) error {
	p, err := newAutoPrepare(withLinear(onPlane(m, t.plane), t.rival, t.plane).(Auto), t.n, t.D)
	if err != nil {
		return err
	}
	p.charts, t.auto = t, p.autoSettings
	if err := p.pilot(); err != nil {
		return err
	}
	if err := p.finish(); err != nil {
		return err
	}
	if p.flat != nil {
		return t.takeLinear(t.rival, p.flat.why)
	}
	t.auto = p.autoSettings
	t.note = t.auto.setting.sheets()
	t.forgetProbes()
	_, err = t.engine.Run(t.ctx, t.each(func(k int) *Task { return &Task{Tile: k, act: actForget} }))
	return err
}

// makeLoss makes the loss as [SCQM] does by rows of a cloud.
func (t *tiling) makeLoss(m classic.SCQM) error {
	K, err := m.Size(t.n, t.D)
	if err != nil {
		return err
	}
	far := make([]float64, min(t.n, classic.ResidualRows))
	err = t.pass(&Task{act: actTrial, some: classic.ResidualRows}, []field{rowField}, []int{K + 1}, func(r *Reply) {
		for l, k := range r.place {
			far[k] = r.values[l]
		}
	})
	if err != nil {
		return err
	}
	for _, v := range far {
		if v >= 0 {
			t.distances = append(t.distances, v)
		}
	}
	return t.takeLoss(m)
}

// takeLoss makes the loss of the distances found.
func (t *tiling) takeLoss(m classic.SCQM) error {
	loss, err := m.LossFor(t.distances)
	m.Loss, m.LossFor = loss, nil
	t.method = m
	return err
}

// perturb implements charts.
func (t *tiling) perturb(probes int, eps float64) error {
	t.forgetProbes()
	t.probes, t.eps = probes, eps
	_, err := t.engine.Run(t.ctx, t.each(func(k int) *Task {
		return &Task{Tile: k, act: actPerturb, probes: probes, eps: eps}
	}))
	return err
}

// forgetProbes forgets where the places of probes are.
func (t *tiling) forgetProbes() {
	t.probes, t.eps = 0, 0
	for f := range t.bounds {
		if f.Probe != rowsThemselves {
			delete(t.bounds, f)
		}
	}
}

// measure implements charts.
func (t *tiling) measure(s setting) error {
	k := &Task{act: actMeasure, auto: t.auto, order: order{setting: s}, some: thinSample(t.n)}
	if err := t.pass(k, []field{placeField}, []int{s.widest() + 1}, func(*Reply) {}); err != nil {
		return err
	}
	_, err := t.engine.Run(t.ctx, t.each(func(k int) *Task { return &Task{Tile: k, act: actCommit} }))
	return err
}

// chart implements charts.
func (t *tiling) chart(o order) (*charted, error) {
	n, k := t.n, &Task{act: actChart, auto: t.auto, order: o}
	if o.some {
		n, k.some = o.of.rows(min(n, selectionRows)), selectionRows
	}
	c := newCharted(n, &o)
	into, fields := c.columns(), []field{placeField}
	for m := range t.probes {
		if o.diverge {
			fields = append(fields, field{m, false})
		}
	}
	err := t.pass(k, fields, []int{o.setting.most() + 1}, func(r *Reply) { r.scatter(into) })
	if err != nil || !o.keep {
		return c, err
	}
	tasks := t.each(func(k int) *Task { return &Task{Tile: k, act: actCommit, order: o} })
	replies, err := t.engine.Run(t.ctx, tasks)
	if err != nil {
		return nil, err
	}
	t.placed(placeField, tasks, replies, 0)
	return c, nil
}

// placed takes the boxes of a field from replies.
func (t *tiling) placed(f field, tasks []*Task, replies []*Reply, at int) {
	placed := slices.Clone(t.bounds[rowField]) // those of tiles without rows are empty
	for k, task := range tasks {
		placed[task.Tile] = replies[k].bounds[at]
	}
	t.bounds[f] = placed
}

// follow implements charts.
func (t *tiling) follow(s setting) error {
	tasks := t.each(func(k int) *Task {
		return &Task{Tile: k, act: actFollow, all: t.n, auto: t.auto, order: order{setting: s}, Threads: t.o.Threads}
	})
	replies, err := t.engine.Run(t.ctx, tasks)
	if err != nil {
		return err
	}
	for m := range t.probes {
		t.placed(field{m, false}, tasks, replies, m)
	}
	return nil
}

// scatter writes columns of values to the places of their rows.
func (r *Reply) scatter(into [][]float64) {
	for l, k := range r.place {
		for c, to := range into {
			to[k] = r.values[l*len(into)+c]
		}
	}
}

// compare implements charts.
func (t *tiling) compare(s setting, list []candidate, of portion) ([]*compared, error) {
	k := &Task{act: actCompare, auto: t.auto, some: selectionRows, candidates: list, order: order{of: of, setting: s}}
	n := of.rows(min(t.n, selectionRows))
	out := make([]*compared, len(list))
	var into [][]float64
	for c, one := range list {
		out[c] = newCompared(one, n)
		into = append(into, out[c].columns()...)
	}
	fields := []field{placeField}
	for m := range t.probes {
		fields = append(fields, field{m, false})
	}
	return out, t.pass(k, fields, []int{s.most() + 1}, func(r *Reply) { r.scatter(into) })
}

// denoise denoises the queries.
func (t *tiling) denoise() error {
	K, err := t.method.Size(t.n, t.D)
	if err != nil {
		return err
	}
	_, unchanged := t.method.(core.Unchanged)
	k := &Task{Queries: true, act: actDenoise, unchanged: unchanged, plane: t.plane, linear: t.linear, auto: t.auto, distances: t.distances, options: Options{Reach: t.o.Reach, Average: t.o.Average}}
	fields := []field{rowField}
	if _, ok := t.method.(Auto); ok {
		fields = append(fields, placeField)
		s := t.auto.setting
		s.neighbors = s.most()
		K = max(K, s.blended())
	}
	near := []int{max(K, t.o.Average) + 1}
	if t.linear != nil && t.linear.Neighbors > 0 {
		fields, near = append(fields, placeField), append(near, t.linear.Neighbors+1)
	}
	return t.pass(k, fields, near, func(*Reply) {})
}
