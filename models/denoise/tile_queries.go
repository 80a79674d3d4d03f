package denoise

import (
	"context"
	"fmt"
	"slices"

	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// Queries are rows to be denoised by those of tiles, with their numbers in a table.
// They go to other machines by MarshalBinary.
type Queries struct {
	columns int
	number  []int
	x       []float64
	result  Result
}

// NewQueries makes queries of rows with their numbers, ascending.
func NewQueries(x rows.Data, number []int) (*Queries, error) {
	x.Weights = nil
	if err := checkNumbered(x, number); err != nil {
		return nil, err
	}
	q := &Queries{columns: x.D, number: slices.Clone(number), x: slices.Clone(x.X)}
	q.result = Result{X: slices.Clone(x.X), Rows: make([]Row, x.N)}
	return q, nil
}

// Rows returns the number of rows.
func (q *Queries) Rows() int { return len(q.number) }

// Result returns the numbers of the rows, and what became of them.
func (q *Queries) Result() ([]int, *Result) { return q.number, &q.result }

// turned are the rows, or their coordinates on a plane, with their distances from that.
func (q *Queries) turned(p *principal.Plane, threads int) (z rows.Data, off []float64, err error) {
	x := rows.Data{N: q.Rows(), D: q.columns, X: q.x}
	if p == nil {
		return x, nil, nil
	}
	if p.D != q.columns {
		return z, nil, fmt.Errorf("denoise: queries of %d columns for axes of %d: %w", q.columns, p.D, ErrInput)
	}
	z = rows.Data{N: x.N, D: p.R}
	z.X, off = p.Coordinates(x, par.Threads(threads))
	return z, off, nil
}

// bounds is the box of the rows of z, which are those of the queries, that are not done, and for a linear
// model of the nearest rows that of what it looks these up by.
func (k *Task) bounds(q *Queries, z rows.Data) []lookup.Box {
	boxes := []lookup.Box{q.bounds(z)}
	if k.linear != nil && k.linear.Neighbors > 0 {
		boxes = append(boxes, q.bounds(rows.Data{N: z.N, D: z.D, X: k.plane.Shrunk(z)}))
	}
	return boxes
}

func (q *Queries) bounds(z rows.Data) lookup.Box {
	b := lookup.NewBox(z.D)
	for i, r := range q.result.Rows {
		if !r.Done {
			b.Include(z.Row(i))
		}
	}
	return b
}

// DoQueries does the task on queries, with the parts that its sources gave.
func (k *Task) DoQueries(ctx context.Context, m Method, q *Queries, parts []*Tile) (*Reply, error) {
	z, off, err := q.turned(k.plane, k.Threads)
	if err != nil {
		return nil, err
	}
	switch {
	case k.unchanged:
		m = core.Unchanged{Of: m}
	case k.linear != nil:
		m = *k.linear
	}
	switch k.act {
	case actSurvey:
		return &Reply{rows: len(q.number), bounds: k.bounds(q, z)}, nil
	case actDenoise:
		return k.denoise(ctx, m, q, z, off, parts)
	}
	return nil, fmt.Errorf("denoise: act %d is not done on queries: %w", k.act, ErrInput)
}

func (k *Task) denoise(ctx context.Context, m Method, q *Queries, z rows.Data, off []float64, parts []*Tile) (*Reply, error) {
	all := union(z.D, k.all, parts)
	d, err := k.denoiser(ctx, m, all)
	if err != nil {
		return nil, err
	}
	left := rows.Data{D: z.D}
	var list []int
	for i, r := range q.result.Rows {
		if !r.Done {
			list = append(list, i)
			d.Number = append(d.Number, q.number[i])
			left.X = append(left.X, z.Row(i)...)
		}
	}
	left.N = len(list)
	result, err := d.Each(ctx, left, k.settings())
	if err != nil {
		return nil, err
	}
	r := &Reply{Known: all.Rows(), reach: result.Need}
	for l, i := range list {
		if !result.Rows[l].Done {
			r.Missed++
			continue
		}
		dst, on := q.result.X[i*q.columns:(i+1)*q.columns], result.X[l*z.D:(l+1)*z.D]
		if k.plane != nil {
			k.plane.Leave(dst, on, off[i], &result.Rows[l])
		} else {
			copy(dst, on)
		}
		q.result.Rows[i] = result.Rows[l]
	}
	r.bounds = k.bounds(q, z)
	return r, nil
}
