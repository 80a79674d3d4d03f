package solvers

import (
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// blockSearch is the working memory of the searches in block k. There is one search per row if rows have independent
// costs, otherwise one for the block.
type blockSearch struct {
	part      framework.Block
	k         int
	separable bool

	cost, trialCost []float64
	slope, eta      []float64
	active          []int // parts that have not found their step
}

// prepare sizes the memory for block k in n parts.
func (r *blockSearch) prepare(e *framework.Evaluator, k, n int) {
	r.k, r.part, r.separable = k, e.Blocks()[k], latent.SeparableRows(e, k)
	if r.separable {
		r.part.Copies = 1
	}
	r.active = r.active[:0]
	if len(r.cost) < n {
		r.cost, r.trialCost = make([]float64, n), make([]float64, n)
		r.slope, r.eta = make([]float64, n), make([]float64, n)
		r.active = make([]int, 0, n)
	}
}

// at returns part i of block k of x.
func (r *blockSearch) at(x framework.Point, i int) []float64 {
	n := r.part.Size()
	return x[r.k][i*n : (i+1)*n : (i+1)*n]
}

// move takes one step in every part of block k, each of its own length, and reports whether one moved. Parts
// that have found their step are not evaluated again.
func (a RGD) move(e *framework.Evaluator, s *RGDState, k int) (bool, error) {
	r := &s.search
	r.prepare(e, k, len(s.Steps[k]))
	if err := a.begin(e, s); err != nil {
		return false, err
	}
	trial := with(s.X, k, s.trial[k])
	moved := false
	for try := 0; try <= a.MaxBacktracks && len(r.active) > 0; try++ {
		if err := s.evaluateTrial(e, trial); err != nil {
			return moved, err
		}
		m, err := a.accept(e, s, trial, try)
		if moved = moved || m; err != nil {
			return moved, err
		}
	}
	for _, i := range r.active {
		s.Steps[k][i] = 0 // for a gradient of another size, not useful for the next
	}
	return moved, nil
}

// begin computes the gradient, lists the parts that can move, and chooses their first steps.
func (a RGD) begin(e *framework.Evaluator, s *RGDState) error {
	r := &s.search
	if r.separable {
		if err := latent.EvaluateRows(e, r.cost, s.Grad[r.k], s.X, r.k, nil); err != nil {
			return err
		}
	} else {
		if !s.Known {
			cost, err := e.Gradient(only(s.Grad, r.k), s.X)
			if err != nil {
				return err
			}
			s.Cost = cost
		}
		r.cost[0] = s.Cost
	}
	_, zero := framework.As[framework.Certifier](e.Problem())
	for i := range s.Steps[r.k] {
		x, g := r.at(s.X, i), r.at(s.Grad, i)
		if !s.Known {
			r.part.Gradient(g, x, g)
		}
		if r.slope[i] = r.part.Inner(x, g, g); r.slope[i] > 0 {
			r.eta[i] = a.firstStep(s.Steps[r.k][i], r.cost[i], r.slope[i], zero || r.separable)
			r.active = append(r.active, i)
		}
	}
	return nil
}

// firstStep chooses where a search begins that follows one with this next step, 0 if none; zero says that the
// minimum of the cost may be near 0, see InitialStep.
func (a RGD) firstStep(next, cost, slope float64, zero bool) float64 {
	switch {
	case next > 0 && !(a.Restart && a.InitialStep > 0):
		return next
	case a.InitialStep > 0:
		return a.InitialStep
	case zero:
		return polyak(cost, slope)
	default:
		return 1 / math.Sqrt(slope)
	}
}

// evaluateTrial evaluates the trial of every active part. A part whose retraction fails does not move.
func (s *RGDState) evaluateTrial(e *framework.Evaluator, trial framework.Point) (err error) {
	r := &s.search
	for _, i := range r.active {
		x, t := r.at(s.X, i), r.at(trial, i)
		for j, v := range r.at(s.Grad, i) {
			t[j] = -r.eta[i] * v
		}
		if r.part.Retract(t, x, t) != nil {
			copy(t, x)
		}
	}
	if r.separable {
		return latent.EvaluateRows(e, r.trialCost, nil, trial, r.k, r.active)
	}
	r.trialCost[0], err = e.Evaluate(nil, trial)
	return err
}

// accept moves the parts whose trials have low costs, takes them off the active list and shortens the steps of
// the others.
func (a RGD) accept(e *framework.Evaluator, s *RGDState, trial framework.Point, try int) (moved bool, err error) {
	r := &s.search
	rest := r.active[:0]
	for _, i := range r.active {
		low, err := a.low(e, s, trial, i)
		if err != nil {
			return moved, err
		}
		old, now := r.cost[i], r.trialCost[i]
		if !low {
			if r.eta[i] /= 2; math.IsInf(now, 0) || math.IsNaN(now) {
				r.eta[i] *= minSection
			}
			rest = append(rest, i)
			continue
		}
		copy(r.at(s.X, i), r.at(trial, i))
		if r.separable {
			s.Cost += now - old
		} else {
			s.Cost = now
		}
		s.Known, moved = false, true
		if s.Steps[r.k][i] = r.eta[i]; try == 0 {
			s.Steps[r.k][i] *= a.Grow
		}
	}
	r.active = rest
	return moved, nil
}

// low reports whether the cost of the trial of part i satisfies Armijo's rule for the predicted reduction. Where
// rounding dominates the difference, the slope at the trial of a block decides: see [HagerZhang].
func (a RGD) low(e *framework.Evaluator, s *RGDState, trial framework.Point, i int) (bool, error) {
	r := &s.search
	old, now, predicted := r.cost[i], r.trialCost[i], r.eta[i]*r.slope[i]
	if r.separable || predicted > nearRounding*math.Abs(old) {
		return now <= old-a.Armijo*predicted && now < old, nil
	}
	if !(now <= old+costNoise*math.Abs(old)) || slices.Equal(trial[r.k], s.X[r.k]) {
		return false, nil
	}
	if s.end == nil {
		s.end, s.along = framework.NewPoint(e.Blocks()), framework.NewPoint(e.Blocks())
	}
	if _, err := e.Gradient(only(s.end, r.k), trial); err != nil {
		return false, err
	}
	end, along := s.end[r.k], s.along[r.k]
	r.part.Gradient(end, trial[r.k], end)
	r.part.Transport(along, s.X[r.k], trial[r.k], s.Grad[r.k])
	return -r.part.Inner(trial[r.k], end, along) <= (1-2*a.Armijo)*r.slope[i], nil
}
