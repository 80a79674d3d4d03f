package solvers

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// rowSearch is the working memory of a search with one step per row.
type rowSearch struct {
	cost, trialCost []float64
	slope, eta      []float64
	active          []int
}

func (r *rowSearch) resize(n int) {
	if len(r.cost) == n {
		return
	}
	r.cost, r.trialCost = make([]float64, n), make([]float64, n)
	r.slope, r.eta = make([]float64, n), make([]float64, n)
	r.active = make([]int, 0, n)
}

// moveRows takes one step in every row of a block, each with a step of its
// own: rows that have found theirs are not evaluated again.
func (a RGD) moveRows(e *framework.Evaluator, s *RGDState, k int) (bool, error) {
	b := e.Blocks()[k]
	r := &s.rows
	r.resize(b.Rows())
	if err := latent.EvaluateRows(e, r.cost, s.Grad[k], s.X, k, nil); err != nil {
		return false, err
	}
	a.beginRows(s, b, k)
	trial := with(s.X, k, s.trial[k])
	moved := false
	for try := 0; try <= a.MaxBacktracks && len(r.active) > 0; try++ {
		a.retractRows(s, b, k)
		if err := latent.EvaluateRows(e, r.trialCost, nil, trial, k, r.active); err != nil {
			return moved, err
		}
		moved = a.acceptRows(s, b, k, try) || moved
	}
	for _, i := range r.active {
		s.Steps[k][i] = 0
	}
	return moved, nil
}

// beginRows lists the rows that can move and chooses their first steps.
func (a RGD) beginRows(s *RGDState, b framework.Block, k int) {
	r := &s.rows
	r.active = r.active[:0]
	row := framework.Block{Manifold: b.Manifold}
	for i := range b.Rows() {
		x, g := b.Row(s.X[k], i), b.Row(s.Grad[k], i)
		row.Gradient(g, x, g)
		r.slope[i] = row.Inner(x, g, g)
		if !(r.slope[i] > 0) {
			continue
		}
		r.eta[i] = a.firstStep(s, b, k, i, r.cost[i], r.slope[i])
		a.remember(s, k, i*b.Manifold.Size(), x, g)
		r.active = append(r.active, i)
	}
}

// retractRows computes the trial point of every active row. A row whose
// retraction fails stays where it is and so cannot be accepted.
func (a RGD) retractRows(s *RGDState, b framework.Block, k int) {
	for _, i := range s.rows.active {
		x, t := b.Row(s.X[k], i), b.Row(s.trial[k], i)
		for j, v := range b.Row(s.Grad[k], i) {
			t[j] = -s.rows.eta[i] * v
		}
		if b.Manifold.Retract(t, x, t) != nil {
			copy(t, x)
		}
	}
}

// acceptRows moves the rows that satisfy the Armijo condition, takes them off
// the active list and shortens the steps of the others.
func (a RGD) acceptRows(s *RGDState, b framework.Block, k, try int) bool {
	r := &s.rows
	rest := r.active[:0]
	moved := false
	for _, i := range r.active {
		old, now := r.cost[i], r.trialCost[i]
		if now <= old-a.Armijo*r.eta[i]*r.slope[i] && now < old {
			copy(b.Row(s.X[k], i), b.Row(s.trial[k], i))
			s.Cost += now - old
			s.Steps[k][i], s.Taken[k][i] = a.nextStep(r.eta[i], try), r.eta[i]
			moved = true
			continue
		}
		r.eta[i] *= a.shrink(now)
		rest = append(rest, i)
	}
	r.active = rest
	return moved
}
