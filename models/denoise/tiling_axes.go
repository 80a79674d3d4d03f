package denoise

import (
	"fmt"

	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// columns is the length of rows.
func (t *tiling) columns() int {
	if t.plane != nil {
		return t.plane.D
	}
	return t.D
}

// findAxes finds the plane of the rows, and the linear model that charts are compared with, by those rows that one
// cloud has them from, and takes the coordinates of all for the rows. Where there is no plane these stay, and where
// charts need not be tried the linear model it is.
func (t *tiling) findAxes() error {
	x, err := t.draw()
	if err != nil {
		return err
	}
	p, l, err := planeOfSample(t.ctx, t.method, x, t.o)
	switch {
	case err != nil:
		return err
	case l != nil && l.Plain(p):
		return t.takeLinear(l, l.Why(core.LatentOf(t.method), "more than ", l.Bent))
	case p == nil:
		return nil
	}
	t.rival = l
	return t.turn(p, l != nil)
}

// turn takes the coordinates of all rows on a plane for these, and keeps them where that is asked for. Rows that
// were kept before are turned as they came.
func (t *tiling) turn(p *principal.Plane, keep bool) error {
	tasks := t.each(func(k int) *Task { return &Task{Tile: k, act: actTurn, plane: p, keep: keep, Threads: t.o.Threads} })
	replies, err := t.engine.Run(t.ctx, tasks)
	if err != nil {
		return err
	}
	t.plane, t.D = p, p.R
	t.bounds = map[field][]lookup.Box{rowField: t.boxes(tasks, replies)}
	return t.checkSpan()
}

// boxes are those of the rows, by tile, after tasks that say them.
func (t *tiling) boxes(tasks []*Task, replies []*Reply) []lookup.Box {
	boxes := make([]lookup.Box, t.engine.Tiles())
	for k := range boxes {
		boxes[k] = lookup.NewBox(t.D)
	}
	for k, task := range tasks {
		boxes[task.Tile] = replies[k].bounds[0]
	}
	return boxes
}

// takeLinear takes a linear model in place of charts, and says why.
func (t *tiling) takeLinear(l *principal.Linear, why string) error {
	m := l.Method(core.LatentOf(t.method))
	t.forgetProbes()
	if err := t.turn(l.Plane, false); err != nil {
		return err
	}
	t.method, t.linear, t.note = m, &m, why
	if m.Neighbors == 0 {
		return nil
	}
	tasks := t.each(func(k int) *Task { return &Task{Tile: k, act: actShrink, plane: l.Plane} })
	replies, err := t.engine.Run(t.ctx, tasks)
	if err == nil {
		t.bounds[placeField] = t.boxes(tasks, replies)
	}
	return err
}

// draw gathers the rows that axes are found by, as [planeSample] takes them.
func (t *tiling) draw() (rows.Data, error) {
	n, D := min(t.n, principal.PlaneRows), t.D
	x := rows.Data{N: n, D: D, X: make([]float64, n*D), Weights: make([]float64, n)}
	replies, err := t.engine.Run(t.ctx, t.each(func(k int) *Task { return &Task{Tile: k, act: actDraw, some: principal.PlaneRows} }))
	if err != nil {
		return x, err
	}
	for _, r := range replies {
		for l, k := range r.place {
			row := r.values[l*(D+1) : (l+1)*(D+1)]
			copy(x.Row(k), row)
			x.Weights[k] = row[D]
		}
	}
	return x, nil
}

// draw gives the rows of a tile that are among some of all, each with its weight after it.
func (k *Task) draw(t *Tile) *Reply {
	r := &Reply{}
	for i, g := range t.number {
		at := core.PlaceAmongSome(g, t.all, k.some)
		if at < 0 {
			continue
		}
		w := 1.0
		if t.weight != nil {
			w = t.weight[i]
		}
		r.place = append(r.place, at)
		r.values = append(append(r.values, t.x[i*t.columns:(i+1)*t.columns]...), w)
	}
	return r
}

// turn takes the coordinates of the rows of a tile for these.
func (k *Task) turn(t *Tile) (*Reply, error) {
	if len(t.kept) > 0 {
		t.kept = t.kept[:1]
		t.takeBack()
	}
	p := k.plane
	if p == nil || p.D != t.columns {
		return nil, fmt.Errorf("denoise: a tile of %d columns is turned by axes of others: %w", t.columns, ErrInput)
	}
	z, _ := p.Coordinates(rows.Data{N: t.Rows(), D: t.columns, X: t.x}, par.Threads(k.Threads))
	if k.keep {
		t.keep()
	}
	t.x, t.columns = z, p.R
	return &Reply{bounds: []lookup.Box{t.bounds(rowField, nil)}}, nil
}

// shrink takes the coordinates of the rows of a tile, shrunk as those of all, for the places.
func (k *Task) shrink(t *Tile) (*Reply, error) {
	if k.plane == nil || k.plane.R != t.columns {
		return nil, fmt.Errorf("denoise: a tile of %d coordinates is shrunk by the gains of others: %w", t.columns, ErrInput)
	}
	t.places, t.trust = [][]float64{k.plane.Shrunk(rows.Data{N: t.Rows(), D: t.columns, X: t.x})}, [][]float64{nil}
	return &Reply{bounds: []lookup.Box{t.bounds(placeField, nil)}}, nil
}
