package denoise

import (
	"context"
	"fmt"
	"slices"

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

func (q *Queries) row(i int) []float64 { return q.x[i*q.columns : (i+1)*q.columns] }

// bounds is the box of the rows that are not done.
func (q *Queries) bounds() box {
	b := newBox(q.columns)
	for i, r := range q.result.Rows {
		if !r.Done {
			b.include(q.row(i))
		}
	}
	return b
}

// DoQueries does the task on queries, with the parts that its sources gave.
func (k *Task) DoQueries(ctx context.Context, m Method, q *Queries, parts []*Tile) (*Reply, error) {
	switch k.act {
	case actSurvey:
		return &Reply{rows: len(q.number), bounds: []box{q.bounds()}}, nil
	case actDenoise:
		return k.denoise(ctx, m, q, parts)
	}
	return nil, fmt.Errorf("denoise: act %d is not done on queries: %w", k.act, ErrInput)
}

func (k *Task) denoise(ctx context.Context, m Method, q *Queries, parts []*Tile) (*Reply, error) {
	all := union(q.columns, k.all, parts)
	d, err := k.denoiser(ctx, m, all)
	if err != nil {
		return nil, err
	}
	left := rows.Data{D: q.columns}
	var list []int
	for i, r := range q.result.Rows {
		if !r.Done {
			list = append(list, i)
			d.number = append(d.number, q.number[i])
			left.X = append(left.X, q.row(i)...)
		}
	}
	left.N = len(list)
	result, err := d.each(ctx, left, k.settings())
	if err != nil {
		return nil, err
	}
	r := &Reply{Known: all.Rows(), reach: result.need}
	for l, i := range list {
		if !result.Rows[l].Done {
			r.Missed++
			continue
		}
		q.result.Rows[i] = result.Rows[l]
		copy(q.result.X[i*q.columns:(i+1)*q.columns], result.X[l*q.columns:(l+1)*q.columns])
	}
	r.bounds = []box{q.bounds()}
	return r, nil
}
