package residuals

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
)

const (
	// differenceStep is the step of a central difference, relative to the length of a copy's point, at least 1. It
	// balances rounding and truncation.
	differenceStep = 0x1p-17
	// secondStep is the step of a central difference of gradients that are differences themselves, with larger
	// errors.
	secondStep = 0x1p-11
	// maxJacobian bounds the entries of a Jacobian by differences: 1 GiB.
	maxJacobian = 1 << 27
)

// differences makes a [Jacobian] of a function without derivatives. Column j of the
// matrix is the central difference of the residuals along the projection P e_j of unit
// vector j on the tangent space, so that J v = D r[P v] = D r[v] for tangent vectors v.
// It takes two evaluations of all rows for each coordinate and has a relative error of
// about 1e-10.
type differences struct {
	Function
	blocks  []framework.Block
	at      framework.Point
	columns [][]float64 // one for each coordinate, n m entries
	minus   []float64
}

func newDifferences(f Function) (*differences, error) {
	d := &differences{Function: f, blocks: f.Blocks()}
	n, m := f.Shape()
	size := 0
	for _, b := range d.blocks {
		size += b.Size()
	}
	if n > maxJacobian/m/max(size, 1) {
		return nil, fmt.Errorf("residuals: %d rows of %d by %d coordinates are too many for differences; "+
			"offer products with the Jacobian: %w", n, m, size, rows.ErrInput)
	}
	d.allocate(size)
	return d, nil
}

func (d *differences) allocate(size int) {
	n, m := d.Shape()
	d.minus = make([]float64, n*m)
	d.columns = make([][]float64, size)
	for j := range d.columns {
		d.columns[j] = make([]float64, n*m)
	}
}

// beside returns a copy that differentiates the same function, with its own memory.
func (d *differences) beside() *differences {
	other := &differences{Function: d.Function, blocks: d.blocks}
	other.allocate(len(d.columns))
	return other
}

// prepare computes the matrix at x, on the threads of p.
func (d *differences) prepare(p *problem, x framework.Point) error {
	if d.at != nil && d.at.Equal(x) {
		return nil
	}
	d.at = nil
	trial, column := x.Clone(), 0
	for k, b := range d.blocks {
		size := b.Manifold.Size()
		v := make([]float64, size)
		for i := range b.Rows() {
			row := b.Row(x[k], i)
			step := differenceStep * math.Max(1, floats.Norm(row, 2))
			for j := range size {
				clear(v)
				v[j] = 1
				b.Manifold.Project(v, row, v)
				if err := d.column(p, d.columns[column], trial, b.Row(trial[k], i), row, v, step, b.Manifold); err != nil {
					return fmt.Errorf("residuals: difference in block %s: %w", b.Name, err)
				}
				copy(b.Row(trial[k], i), row)
				column++
			}
		}
	}
	d.at = x.Clone()
	return nil
}

// column writes the central difference along v, of the given length, for copy row of trial at the point at.
func (d *differences) column(p *problem, dst []float64, trial framework.Point, row, at, v []float64, step float64, on framework.Manifold) error {
	if length := floats.Norm(v, 2); length > 0 {
		step /= length
	} else {
		clear(dst)
		return nil
	}
	move := make([]float64, len(v))
	for side, to := range [2][]float64{dst, d.minus} {
		floats.ScaleTo(move, step*float64(1-2*side), v)
		if err := on.Retract(row, at, move); err != nil {
			return err
		}
		err := p.eachShard(func(_, lo, hi int) error {
			return d.Residuals(to[lo*p.m:hi*p.m], trial, lo, hi)
		})
		if err != nil {
			return err
		}
	}
	floats.Sub(dst, d.minus)
	floats.Scale(1/(2*step), dst)
	return nil
}

// JacobianProduct implements [Jacobian] at the point prepared last.
func (d *differences) JacobianProduct(dst []float64, _, v framework.Point, from, to int) error {
	_, m := d.Shape()
	clear(dst)
	column := 0
	for _, b := range v {
		for _, c := range b {
			floats.AddScaled(dst, c, d.columns[column][from*m:to*m])
			column++
		}
	}
	return nil
}

// AddTransposedProduct implements [Jacobian] at the point prepared last.
func (d *differences) AddTransposedProduct(dst, _ framework.Point, g []float64, from, to int) error {
	_, m := d.Shape()
	column := 0
	for _, b := range dst {
		for j := range b {
			b[j] += floats.Dot(g, d.columns[column][from*m:to*m])
			column++
		}
	}
	return nil
}
