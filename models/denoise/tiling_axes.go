package denoise

import (
	"fmt"

	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
)

// columns is the length of rows.
func (t *tiling) columns() int {
	if t.plane != nil {
		return t.plane.D
	}
	return t.D
}

// wantsAxes tells whether rows are denoised along principal axes. Whether a linear model is better than
// charts along those that are found, [Auto] asks of models and charts of all rows, which tiles do not make.
func (t *tiling) wantsAxes() (bool, error) {
	if _, auto := t.method.(Auto); auto && t.o.Axes == 0 && t.D >= wideColumns {
		return false, fmt.Errorf("denoise: in tiles: auto, rows of %d columns: whether a linear model is better than charts is asked of fits to all rows; give a number of principal axes (n_axes=8 in Python), keep all columns (n_axes='all'), or choose mls: %w", t.D, ErrInput)
	}
	return wantsPlane(t.method, t.D, t.o)
}

// turn finds the plane of the rows by those that one cloud has it from, and takes the coordinates of all
// for the rows. Where there is no plane these stay.
func (t *tiling) turn() error {
	x, err := t.draw()
	if err != nil {
		return err
	}
	p, err := planeOfSample(t.ctx, t.method, x, t.o)
	if err != nil || p == nil {
		return err
	}
	tasks := t.each(func(k int) *Task { return &Task{Tile: k, act: actTurn, plane: p, Threads: t.o.Threads} })
	replies, err := t.engine.Run(t.ctx, tasks)
	if err != nil {
		return err
	}
	turned := make([]box, t.engine.Tiles())
	for k := range turned {
		turned[k] = newBox(p.r)
	}
	for k, task := range tasks {
		turned[task.Tile] = replies[k].bounds[0]
	}
	t.plane, t.D = p, p.r
	t.bounds = map[field][]box{rowField: turned}
	return t.checkSpan()
}

// draw gathers the rows that axes are found by, as [planeSample] takes them.
func (t *tiling) draw() (rows.Data, error) {
	n, D := min(t.n, planeRows), t.D
	x := rows.Data{N: n, D: D, X: make([]float64, n*D), Weights: make([]float64, n)}
	replies, err := t.engine.Run(t.ctx, t.each(func(k int) *Task { return &Task{Tile: k, act: actDraw, some: planeRows} }))
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
		at := placeAmongSome(g, t.all, k.some)
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
	p := k.plane
	if p == nil || p.D != t.columns {
		return nil, fmt.Errorf("denoise: a tile of %d columns is turned by axes of others: %w", t.columns, ErrInput)
	}
	t.x, _ = p.coordinates(rows.Data{N: t.Rows(), D: t.columns, X: t.x}, par.Threads(k.Threads))
	t.columns = p.r
	return &Reply{bounds: []box{t.bounds(rowField, nil)}}, nil
}
