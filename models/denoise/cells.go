package denoise

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// Methods whose charts are local need no more of a cloud than the rows around a place. Clouds of more than four times
// CellRows are cut into cells of about CellRows, and each cell, with a halo of rows around it, is a cloud of its own.

const (
	// CellRows is the default number of rows of a cell.
	CellRows = 1 << 16
	// SampleRows bounds the sample that determines a partition. Half of it bounds the rows whose normals are oriented
	// together.
	SampleRows = principal.PlaneRows
	// cellColumns bounds the columns of rows that are cut into cells: with more columns all rows would be in the halo
	// of each cell.
	cellColumns = 30
	// wholeCells times the number of rows of a cell is the largest cloud that is fitted as a whole.
	wholeCells = 4
	// haloRows is the number of rows in a ball. haloReach is the width of a halo in units of the ball's radius. The
	// radius is the quantile haloQuantile over at most haloPlaces points of a cell.
	haloRows, haloReach, haloQuantile, haloPlaces = 1500, 1.5, 0.9, 256
	// chartReach is the width of a halo in units of the chart radius, since a projection is a mean over nearby
	// charts. haloMost bounds the rows of a cell with this halo.
	chartReach, haloMost = 1.7, 2
)

// Cell is a box Lo <= x < Hi. Its rows are denoised by the rows within the distance Halo of it.
type Cell struct {
	Lo   []float64 `json:"lo"`
	Hi   []float64 `json:"hi"`
	Halo float64   `json:"halo"`
}

// holds reports whether a row is within a distance of the cell, in every column.
func (c *Cell) holds(x []float64, halo float64) bool {
	for j, v := range x {
		if v < c.Lo[j]-halo || v >= c.Hi[j]+halo {
			return false
		}
	}
	return true
}

// rows lists the rows of positive weight within a distance of the cell.
func (c *Cell) rows(x rows.Data, halo float64, threads int) []int {
	parts := make([][]int, par.Shards(x.N))
	par.Do(threads, len(parts), func(_, s int) {
		from, to := par.Bounds(x.N, s)
		for i := from; i < to; i++ {
			if c.holds(x.Row(i), halo) && x.Weight(i) > 0 {
				parts[s] = append(parts[s], i)
			}
		}
	})
	return slices.Concat(parts...)
}

// Partition cuts space into cells for a method fitted to n rows, by planes at right angles to the axes (J. L. Bentley
// 1975). It returns one cell if Fit would not cut the rows. The sample is the [SampleRows] rows of the least [Hash].
// If the rows determine the dimension, the returned method has it.
func Partition(ctx context.Context, m Method, sample rows.Data, n int, o Options) (Method, []Cell, error) {
	p := partition{sample: sample, part: float64(sample.N) / float64(n), near: make([]int, sample.N)}
	all := Cell{Lo: make([]float64, sample.D), Hi: make([]float64, sample.D)}
	for j := range sample.D {
		all.Lo[j], all.Hi[j] = -math.MaxFloat64, math.MaxFloat64
	}
	if !wantsCells(m, rows.Data{N: n, D: sample.D}, o) {
		return m, []Cell{all}, nil
	}
	m, k, err := p.look(ctx, m, n, o)
	if err != nil {
		return nil, nil, err
	}
	p.perCell = p.part * float64(cmp.Or(o.CellRows, CellRows))
	p.ball = min(max(int(math.Ceil(p.part*float64(max(haloRows, k)))), 2), sample.N-1)
	list := make([]int, sample.N)
	for i := range list {
		list[i] = i
	}
	p.index = lookup.NewIndex(sample.X, sample.D, list)
	p.divide(all, list)
	return m, p.cells, nil
}

// look finds the dimension and the chart size of the sample, if they are to be chosen, and the number of neighbours.
func (p *partition) look(ctx context.Context, m Method, n int, o Options) (Method, int, error) {
	of := m
	s, open := m.(SelectDimension)
	if open {
		of = s.Of
	}
	charts, ok := of.(Auto)
	sized := ok && charts.Neighbors == 0
	if open || sized {
		d, err := fitWhole(ctx, m, p.sample, Options{Threads: o.Threads, Axes: o.Axes})
		if err != nil {
			return nil, 0, err
		}
		if open {
			if m, err = withLatent(s.Of, d.Latent()); err != nil {
				return nil, 0, err
			}
		}
		if sized {
			r, err := d.denoise(ctx, p.sample, Options{Threads: o.Threads})
			if err != nil {
				return nil, 0, err
			}
			for i, row := range r.Rows {
				p.near[i] = row.Neighbors
			}
		}
	}
	k, err := m.Size(n, p.sample.D)
	return m, max(k, charts.Neighbors), err
}

// Hash returns the same pseudorandom number for the same coordinates.
func Hash(x []float64) uint64 { return core.Hash(x) }

type partition struct {
	sample        rows.Data
	part, perCell float64 // number of rows, and of sample rows in a cell
	ball          int     // number of sample rows in a ball of a halo
	near          []int   // for each row of the sample, the sample rows of its chart
	index         lookup.Index
	search        lookup.Search
	cells         []Cell
}

// divide cuts a box with the listed rows into cells.
func (p *partition) divide(box Cell, list []int) {
	b := lookup.NewBox(p.sample.D)
	for _, i := range list {
		b.Include(p.sample.Row(i))
	}
	number := int(math.Ceil(float64(len(list)) / p.perCell))
	if number < 2 || !(b.Width() > 0) {
		box.Halo = p.halo(&box, list)
		p.cells = append(p.cells, box)
		return
	}
	axis := 0
	for j := range p.sample.D {
		if b.Hi[j]-b.Lo[j] > b.Hi[axis]-b.Lo[axis] {
			axis = j
		}
	}
	value := func(k int) float64 { return p.sample.Row(list[k])[axis] }
	slices.SortStableFunc(list, func(i, k int) int { return cmp.Compare(p.sample.Row(i)[axis], p.sample.Row(k)[axis]) })
	middle := len(list) * (number / 2) / number
	for middle > 0 && value(middle-1) == value(middle) { // equal rows are in one cell
		middle--
	}
	for middle == 0 || value(middle-1) == value(middle) {
		middle++
	}
	left, right := box, box
	left.Hi, right.Lo = slices.Clone(box.Hi), slices.Clone(box.Lo)
	left.Hi[axis], right.Lo[axis] = value(middle), value(middle)
	p.divide(left, list[:middle])
	p.divide(right, list[middle:])
}

// halo returns the width of the halo of a cell with the listed rows. It is that of balls of haloRows or, if larger,
// of the charts of the sample, unless the cell with this halo has more than haloMost times its rows.
func (p *partition) halo(box *Cell, list []int) float64 {
	n := min(len(list), haloPlaces)
	balls, charts := make([]float64, n), make([]float64, n)
	for k := range n {
		i := list[k*len(list)/n]
		found := p.search.Find(p.index, p.sample.Row(i), max(p.ball, p.near[i])+1)
		balls[k] = math.Sqrt(found[min(p.ball, len(found)-1)].Distance)
		charts[k] = math.Sqrt(found[min(p.near[i], len(found)-1)].Distance)
	}
	far := make([]float64, p.sample.N)
	for i := range far {
		far[i] = box.far(p.sample.Row(i))
	}
	most := dense.Select(far, min(int(haloMost*p.perCell), len(far)-1))
	at := int(haloQuantile * float64(n))
	return max(haloReach*dense.Select(balls, at), min(chartReach*dense.Select(charts, at), most))
}

// far is the largest distance of a row from the cell over the columns.
func (c *Cell) far(x []float64) (far float64) {
	for j, v := range x {
		far = max(far, c.Lo[j]-v, v-c.Hi[j])
	}
	return far
}

// local reports whether the charts of a method only depend on the rows near them.
func local(m Method) bool {
	switch m := m.(type) {
	case Auto, classic.SCQM, classic.LPCA, classic.MLS, classic.APSS, classic.SPH, classic.QMF:
		return true
	case classic.KDE:
		return m.Local
	case Select:
		return local(m.Of)
	case SelectDimension:
		return local(m.Of)
	}
	return false
}

// cells holds the cells of a cloud that is fitted cell by cell.
type cells struct {
	method Method
	x      rows.Data
	axes   int
	list   []Cell

	middle *Denoiser // fit of the cell in the middle of the list
	mu     sync.Mutex
	at     int // number of the last fitted cell, and its fit
	last   *Denoiser

	// sample are the rows whose normals are oriented together, with their denoised positions, their normals, and
	// which cells have computed their normals.
	sample          rows.Data
	places, normals []float64
	told            []bool
}

// wantsCells reports whether Fit cuts a cloud into cells.
func wantsCells(m Method, x rows.Data, o Options) bool {
	return x.N > wholeCells*cmp.Or(o.CellRows, CellRows) && x.D < cellColumns && local(m)
}

// fitCells makes the partition and fits the middle cell. The settings of that cell describe the method.
func fitCells(ctx context.Context, m Method, x rows.Data, o Options) (*Denoiser, error) {
	sample := x.Select(core.Smallest(x, 2*SampleRows))
	some := rows.Data{N: min(sample.N, SampleRows), D: x.D}
	some.X = sample.X[:some.N*x.D]
	sample.Weights = nil
	if some.N < 2 {
		return fitWhole(ctx, m, x, o)
	}
	n := 0
	for i := range x.N {
		if x.Weight(i) > 0 {
			n++
		}
	}
	m, list, err := Partition(ctx, m, some, n, o)
	if err != nil {
		return nil, err
	}
	c := &cells{method: m, x: x, axes: o.Axes, list: list, at: -1, sample: sample}
	c.told = make([]bool, len(c.list))
	if c.middle, err = c.fit(ctx, len(c.list)/2, o); err != nil {
		return nil, err
	}
	return &Denoiser{prepared: c.middle.prepared, plane: c.middle.plane, note: c.middle.note, unit: 1, cells: c}, nil
}

// fit fits a cell, unless it is the last fitted one or the middle one.
func (c *cells) fit(ctx context.Context, k int, o Options) (*Denoiser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k == len(c.list)/2 && c.middle != nil {
		return c.middle, nil
	}
	if k != c.at {
		c.at, c.last = -1, nil // before there is another
		around := c.x.Select(c.list[k].rows(c.x, c.list[k].Halo, par.Threads(o.Threads)))
		d, err := fitWhole(ctx, c.method, around, Options{Threads: o.Threads, Axes: c.axes, Progress: o.Progress})
		if err != nil {
			return nil, err
		}
		c.at, c.last = k, d
	}
	return c.last, nil
}

// each fits, one after another, the cells that contain rows of x, and calls a function for each.
func (c *cells) each(ctx context.Context, x rows.Data, o Options, do func(d *Denoiser, k int, list []int) error) error {
	bar := core.Progress{Report: o.Progress, Total: x.N}
	for k := range c.list {
		list := c.list[k].rows(x, 0, par.Threads(o.Threads))
		if len(list) == 0 {
			continue
		}
		d, err := c.fit(ctx, k, Options{Threads: o.Threads})
		if err == nil {
			err = do(d, k, list)
		}
		if err != nil {
			return err
		}
		bar.Add(len(list))
	}
	return nil
}

// denoise denoises the rows of x with the fit of the cell that contains each.
func (c *cells) denoise(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	held, err := core.ReserveResult(c.method, x)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	r := core.NewResult(x)
	var g *Geometry
	if o.Surface {
		g = c.middle.newGeometry(x)
		r.Surface = g
	}
	inside := o
	inside.Progress = nil
	err = c.each(ctx, x, o, func(d *Denoiser, k int, list []int) error {
		own := x.Select(list)
		some, err := d.denoise(ctx, own, inside)
		if some == nil {
			return err
		}
		if err == nil && g != nil {
			err = c.describeSome(ctx, g, d, k, list, own, some, 1, inside)
		}
		scatter(r.X, some.X, list, x.D)
		for j, i := range list {
			r.Rows[i] = some.Rows[j]
		}
		part := float64(len(list)) / float64(x.N)
		r.ShareError = math.Hypot(r.ShareError, math.Sqrt(part)*some.ShareError)
		r.ShareMoved = math.Hypot(r.ShareMoved, math.Sqrt(part)*some.ShareMoved)
		return err
	})
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	return r, err
}

// scatter copies row j of src, of the given width, to row list[j] of dst.
func scatter(dst, src []float64, list []int, width int) {
	for j, i := range list {
		copy(dst[i*width:(i+1)*width], src[j*width:(j+1)*width])
	}
}

// describe describes the surface cell by cell.
func (c *cells) describe(ctx context.Context, g *Geometry, x rows.Data, r *Result, unit float64, o Options) error {
	in := x
	if unit != 1 {
		in = x.InUnits(unit)
	}
	in.Weights = nil
	inside := o
	inside.Progress = nil
	return c.each(ctx, in, o, func(d *Denoiser, k int, list []int) error {
		some := &Result{X: rows.Data{N: x.N, D: x.D, X: r.X}.Select(list).X}
		for _, i := range list {
			some.Rows = append(some.Rows, r.Rows[i])
		}
		return c.describeSome(ctx, g, d, k, list, x.Select(list), some, unit, inside)
	})
}

// describeSome describes the surface at rows x of cell k, and writes the results to the listed rows of g.
func (c *cells) describeSome(ctx context.Context, g *Geometry, d *Denoiser, k int, list []int, x rows.Data, r *Result, unit float64, o Options) error {
	part, err := d.describe(ctx, x, r, unit, o)
	if err != nil {
		return err
	}
	scatter(g.Curvature, part.Curvature, list, 1)
	scatter(g.Error, part.Error, list, 1)
	scatter(g.Score, part.Score, list, 1)
	if g.Normals == nil || part.Normals == nil {
		return nil
	}
	scatter(g.Normals, part.Normals, list, x.D)
	scatter(g.Principal, part.Principal, list, x.D-1)
	return c.tell(ctx, d, k, o)
}

// tell computes the normals of the sample rows that lie in cell k.
func (c *cells) tell(ctx context.Context, d *Denoiser, k int, o Options) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told[k] {
		return nil
	}
	if c.places == nil {
		c.places, c.normals = slices.Clone(c.sample.X), make([]float64, len(c.sample.X))
	}
	list := c.list[k].rows(c.sample, 0, par.Threads(o.Threads))
	x := c.sample.Select(list)
	r, err := d.denoise(ctx, x, o)
	if err != nil {
		return err
	}
	g, err := d.describe(ctx, x, r, 1, o)
	if err != nil {
		return err
	}
	scatter(c.places, r.X, list, x.D)
	if g.Normals != nil {
		scatter(c.normals, g.Normals, list, x.D)
	}
	c.told[k] = true
	return nil
}

// sides makes the normals of the sample consistent, once all cells have computed their normals.
func (c *cells) sides(ctx context.Context, o Options) (*orientedPlaces, error) {
	for k := range c.list {
		c.mu.Lock()
		told := c.told[k]
		c.mu.Unlock()
		if told {
			continue
		}
		d, err := c.fit(ctx, k, o)
		if err == nil {
			err = c.tell(ctx, d, k, o)
		}
		if err != nil {
			return nil, err
		}
	}
	all := make([]int, c.sample.N)
	for i := range all {
		all[i] = i
	}
	return orientPlaces(c.normals, c.places, c.sample.D, all), nil
}
