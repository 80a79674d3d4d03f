package scqm

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/solvers"
)

// A row near a fold has a second place on the sheet, hardly farther than its nearest
// point. There it would pull the sheet another way, and what the sheet gains by following
// may outweigh the way: for rows of rises e_i that change the gradient with respect to
// (c, Q, Theta) by g_i, the cost changes by
//
//	sum_i e_i - |sum_i S^-1/2 g_i|^2 / 2
//
// to second order, S being the reduced Hessian. No row finds that by itself, as its
// nearest point is the better one until the sheet has followed.

const (
	// bent is the curvature times extent below which sheets have no folds.
	bent = 1
	// atMinimum is the relative decrease that Newton's method may still promise at a
	// point from which rows are moved together.
	atMinimum = 1e-10
	// worthMoving is the relative decrease from which on a set of rows is tried, and
	// accepted.
	worthMoving = 1e-6
	// highestRise is the rise of a row, relative to the cost, beyond which it is left
	// alone, and maxMovable the number of rows that are looked at, those that promise
	// most by themselves.
	highestRise, maxMovable = 1e-2, 64
	// maxTogether bounds the rows of a set: promises of many rows are far beyond the
	// second order.
	maxTogether = 4
	// maxSets is the number of sets that are tried, and setIterations the iterations of
	// Newton's method for each.
	maxSets, setIterations = 2, 40
)

// movable is a row with another place.
type movable struct {
	row   int
	tau   []float64
	loss  float64   // where it is
	gain  float64   // by moving it alone, below 0 where the cost rises
	white []float64 // S^-1/2 g_i
}

// set is some rows that move together, and the decrease of the cost that they promise.
type set struct {
	rows []int // places in a list of movable rows
	gain float64
}

// reassignTogether moves x, in place, to a lower minimum with few rows at other places
// than their nearest points before, if it finds one that is no more folded than pays, see
// [finding]. Losses with unbounded second derivatives are rounded for that, see reassignRounded.
func (p *Problem) reassignTogether(x framework.Point) (moved bool, passes float64, err error) {
	m := p.model(x)
	if p.Data().Missing || !(m.CurvatureExtent(x[BlockTau], p.Data().Weights) > bent) {
		return false, 0, nil
	}
	if _, kinked := p.PlainLoss().(framework.Smoother); kinked {
		return p.reassignRounded(x)
	}
	cost, err := p.Evaluate(nil, x)
	if err != nil {
		return false, 1, err
	}
	from := make([]float64, p.Data().N)
	if err := p.EvaluateRows(from, nil, x, BlockTau, nil); err != nil {
		return false, 2, err
	}
	rows := p.foldedRows(x, from, cost)
	if len(rows) == 0 {
		return false, 2, nil
	}
	h, ok, err := framework.ReduceHessian(p, x)
	passes = 2
	if err != nil || !ok {
		return false, passes, err
	}
	if h.Promises(atMinimum*cost) || !h.Decompose() || h.Decrement() > atMinimum*cost {
		return false, passes, err
	}
	list, err := p.movableRows(x, rows, from, cost, h)
	passes += movablePasses
	if err != nil {
		return false, passes, err
	}
	here := p.finding(&framework.Result{Point: x, Cost: cost})
	for _, s := range promising(list, worthMoving*cost) {
		if p.tried.before(list, s, cost) {
			continue
		}
		end, used, err := p.moveTogether(x, list, s, h)
		passes += used
		if err != nil {
			return false, passes, err
		}
		if end != nil && end.Cost < cost*(1-worthMoving) && p.finding(end).supersedes(here) {
			for k := range x {
				copy(x[k], end.Point[k])
			}
			return true, passes, nil
		}
		p.tried.keep(list, s, cost)
	}
	return false, passes, nil
}

// triedSets are the sets that were tried in vain, each at the minimum of a cost: a run is
// examined several times at one minimum.
type triedSets []triedSet

type triedSet struct {
	Rows []int // of the data
	Cost float64
}

// before reports whether a set was tried at a minimum of the cost given.
func (t triedSets) before(list []movable, s set, cost float64) bool {
	rows := s.of(list)
	return slices.ContainsFunc(t, func(o triedSet) bool {
		return slices.Equal(o.Rows, rows) && math.Abs(o.Cost-cost) <= 2*atMinimum*cost
	})
}

// keep adds a set.
func (t *triedSets) keep(list []movable, s set, cost float64) {
	*t = append(*t, triedSet{s.of(list), cost})
}

// of returns the rows of the data that a set of places in a list has, in order.
func (s set) of(list []movable) []int {
	rows := make([]int, len(s.rows))
	for i, k := range s.rows {
		rows[i] = list[k].row
	}
	slices.Sort(rows)
	return rows
}

const (
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

// promising returns the sets of at most maxTogether rows that promise most.
func promising(list []movable, least float64) []set {
	var sets []set
	for first := range list {
		s := grow(list, first)
		slices.Sort(s.rows)
		known := func(o set) bool { return slices.Equal(o.rows, s.rows) }
		if s.gain > least && !slices.ContainsFunc(sets, known) {
			sets = append(sets, s)
		}
	}
	slices.SortStableFunc(sets, func(a, b set) int { return cmp.Compare(b.gain, a.gain) })
	return sets[:min(len(sets), maxSets)]
}

// grow adds rows to a first one as long as each raises the gain.
func grow(list []movable, first int) set {
	s := set{[]int{first}, list[first].gain}
	loss := list[first].loss
	sum := slices.Clone(list[first].white)
	for len(s.rows) < maxTogether {
		next, most := -1, 0.0
		for k, m := range list {
			more := floats.Dot(m.white, sum) + m.gain
			if more > most && s.gain+more <= loss+m.loss && !slices.Contains(s.rows, k) {
				next, most = k, more
			}
		}
		if next < 0 {
			break
		}
		s.rows, s.gain = append(s.rows, next), s.gain+most
		loss += list[next].loss
		floats.Add(sum, list[next].white)
	}
	return s
}

// moveTogether moves the rows of a set, lets the sheet follow and runs Newton's method from
// there.
func (p *Problem) moveTogether(x framework.Point, list []movable, s set, h *framework.ReducedHessian) (*framework.Result, float64, error) {
	at := p.follow(x, list, s, h)
	if at == nil {
		return nil, 0, nil
	}
	newton, err := solvers.ByName("newton")
	if err != nil {
		return nil, 0, err
	}
	run, err := framework.Solve(p.Context(), p, at, newton, framework.Options{MaxIterations: setIterations, FirstOrder: true})
	if run == nil {
		return nil, 0, err
	}
	return run, run.Counts.Passes, err
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
