package scqm

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

const (
	// worthMoving is the relative decrease from which on rows at other places are tried, and
	// accepted.
	worthMoving = 1e-6
	// highestRise is the rise of a row, relative to the cost, beyond which it is left
	// alone, and maxMovable the number of rows that are looked at, those that promise
	// most by themselves.
	highestRise, maxMovable = 1e-2, 64
	// movablePasses is roughly what looking for other places costs, in passes.
	movablePasses = 6
	// settleSteps is the number of Newton steps that take other places from the
	// Euclidean norm to the loss.
	settleSteps = 2
)

// foldedRows lists the rows that may have another place with a rise that is looked at, given the losses of all rows
// where they are. A nearest point of its surroundings that is not the nearest of all has a
// residual e off the tangent with 1 + 2 sum_k e_k A_k not positive definite, and with A0 the largest
// curvature of the sheet (see [sheet.Sheet.CurvatureBound]) that is as long as 1/2A0 at least.
// For losses that are not radial all rows are listed.
func (p *Problem) foldedRows(x framework.Point, from []float64, cost float64) []int {
	loss := math.Inf(-1)
	if radial, ok := p.PlainLoss().(framework.Radial); ok {
		f := p.NewSheet()
		f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
		least := (1 - dense.Negligible) / (2 * f.QuickCurvatureBound())
		rho, square := []float64{0}, []float64{least * least}
		if radial.Rho(rho, nil, nil, square); !math.IsNaN(rho[0]) {
			loss = rho[0]
		}
	}
	var list []int
	for i, here := range from {
		if w := p.Data().Weight(i); w > 0 && !(w*loss-here >= highestRise*cost) {
			list = append(list, i)
		}
	}
	return list
}

// movableRows returns those of a list of rows that have other places and promise most by themselves, given
// the losses of all rows where they are.
func (p *Problem) movableRows(x framework.Point, rows []int, from []float64, cost float64, h *framework.ReducedHessian) ([]movable, error) {
	f, data, d := p.NewSheet(), *p.Data(), p.Shape().Latent
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	moves, err := nearest.OtherMinima(p.Context(), x[BlockTau], f, data, rows, p.Threads())
	if err != nil {
		return nil, err
	}
	y := x.Clone()
	for _, m := range moves {
		copy(y[BlockTau][m.Row*d:], m.Tau)
	}
	for range settleSteps {
		if _, _, err := p.InnerStep(y, y[BlockTau]); err != nil {
			return nil, err
		}
	}
	to := make([]float64, data.N)
	if err := p.EvaluateRows(to, nil, y, BlockTau, nil); err != nil {
		return nil, err
	}
	moves = slices.DeleteFunc(moves, func(m nearest.Move) bool {
		return !(to[m.Row]-from[m.Row] < highestRise*cost)
	})
	white, err := p.pulls(x, y, moves, h)
	if err != nil {
		return nil, err
	}
	var list []movable
	for k, m := range moves {
		copy(m.Tau, y[BlockTau][m.Row*d:])
		gain := floats.Dot(white[k], white[k])/2 - (to[m.Row] - from[m.Row])
		if gain > from[m.Row] {
			continue
		}
		list = append(list, movable{m.Row, m.Tau, from[m.Row], gain, white[k]})
	}
	slices.SortStableFunc(list, func(a, b movable) int { return cmp.Compare(b.gain, a.gain) })
	return list[:min(len(list), maxMovable)], nil
}

// pulls returns S^-1/2 g for the changes g of the gradient by moves from x to y, one by
// one.
func (p *Problem) pulls(x, y framework.Point, moves []nearest.Move, h *framework.ReducedHessian) ([][]float64, error) {
	shape, _ := p.ArrowheadShape()
	rows := make([]int, len(moves))
	for k, m := range moves {
		rows[k] = m.Row
	}
	here, there := make([]float64, len(rows)*shape.Outer), make([]float64, len(rows)*shape.Outer)
	if err := p.RowGradients(here, x, rows); err != nil {
		return nil, err
	}
	if err := p.RowGradients(there, y, rows); err != nil {
		return nil, err
	}
	floats.Sub(there, here)
	white := make([][]float64, len(rows))
	for k := range rows {
		white[k] = here[k*shape.Outer : (k+1)*shape.Outer]
		h.Whiten(white[k], there[k*shape.Outer:(k+1)*shape.Outer])
	}
	return white, nil
}

// follow moves the rows of a set and lets the sheet follow, if it bends that far.
func (p *Problem) follow(x framework.Point, list []movable, s set, h *framework.ReducedHessian) framework.Point {
	d := p.Shape().Latent
	at := x.Clone()
	white := make([]float64, len(list[0].white))
	for _, k := range s.rows {
		copy(at[BlockTau][list[k].row*d:], list[k].tau)
		floats.Add(white, list[k].white)
	}
	step := make([]float64, len(white))
	h.Follow(step, white)
	moved := at.Clone()
	if p.RetractOuter(moved, at, step) != nil || p.Blocks()[BlockQ].Restore(moved[BlockQ]) != nil {
		return nil
	}
	return moved
}
