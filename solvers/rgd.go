package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/framework/stop"
)

// RGD is blockwise Riemannian gradient descent: every iteration takes one
// gradient step in each block in turn, x_k <- R(x_k, -eta_k grad_k), with the
// gradient computed at the newest point (Gauss-Seidel) and the step found by
// Armijo backtracking,
//
//	F(new) <= F - Armijo * eta * |grad|^2.
//
// A block whose rows have independent costs has a step of its own for every
// row. This is Algorithm 1 of Zhai and Li, Robust Subspace-Constrained
// Quadratic Models (arXiv 2605.20300), with the gradients and the squared norm
// corrected; [PaperRGD] has the settings of the authors' released code.
//
// The zero value is ready to use.
type RGD struct {
	// InitialStep is the first trial step eta of a block or row. For rows, and for a problem that is a
	// [framework.Certifier], 0 stands for cost / |grad|^2, the step after which a linear cost would vanish. Other
	// costs may have a constant: there 0 stands for 1 / |grad|, a move of unit length.
	InitialStep float64
	// Armijo is the fraction of the predicted reduction that a step must reach, in (0, 1); 0 stands for 1e-4.
	Armijo float64
	// Shrink multiplies a rejected step, in (0, 1); 0 stands for 1/2.
	Shrink float64
	// Grow multiplies the step of the next iteration where the first trial of
	// this one was accepted; 0 stands for 2, 1 never grows.
	Grow float64
	// MaxBacktracks bounds the trials after the first; 0 stands for 40.
	MaxBacktracks int
	// Restart starts every search at InitialStep.
	Restart bool
	// BarzilaiBorwein starts every search at <s,s>/<s,y>, with s the last move and y the change of the gradient
	// along it (Barzilai and Borwein 1988; on manifolds Iannazzo and Porcelli 2018).
	BarzilaiBorwein bool
}

// PaperRGD returns the settings of the released code of Zhai and Li: every
// step restarts at 0.1 in each iteration, Armijo constant 1e-2, at most 20
// halvings. [PaperOptions] has its stopping rule.
func PaperRGD() RGD {
	return RGD{InitialStep: 0.1, Armijo: 1e-2, Grow: 1, MaxBacktracks: 20, Restart: true}
}

// PaperOptions returns the stopping rule of the released code: 1000 iterations,
// or a decrease of less than 1e-7 in the unit of the cost.
func PaperOptions() framework.Options {
	return framework.Options{MaxIterations: 1000, MinRelativeDecrease: -1, Patience: 1, Stop: stop.Decrease(1e-7, 1)}
}

// Name returns "rgd".
func (RGD) Name() string { return "rgd" }

// RGDState is the state of a run of [RGD].
type RGDState struct {
	X    framework.Point
	Cost float64
	// Steps[k] holds the first trial step of the next search: one for block k, or one for each of its rows; 0
	// before the first search.
	Steps [][]float64
	// LastX and LastGrad are the point and the gradient of each block before its last move, for Barzilai-Borwein
	// steps; nil before the first move.
	LastX, LastGrad framework.Point
	// Taken[k] holds the steps of the last moves, like Steps.
	Taken [][]float64
	// Grad is the Riemannian gradient at X if Known is true; otherwise it holds the gradients of the blocks moved
	// last.
	Grad  framework.Point
	Known bool

	trial      framework.Point
	end, along framework.Point
	rows       rowSearch
	unit       bool // the minimum of the cost is not known to be near 0, see InitialStep
}

// Iterate returns the current point and its cost.
func (s *RGDState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient returns the Riemannian gradient at the iterate, or nil if a block has rows of independent costs: the
// gradients of these rows are computed at different points.
func (s *RGDState) Gradient() framework.Point {
	if !s.Known {
		return nil
	}
	return s.Grad
}

// NewState returns an empty state for a stored run.
func (RGD) NewState() framework.State { return &RGDState{} }

func (a RGD) withDefaults() RGD {
	if a.Armijo == 0 {
		a.Armijo = 1e-4
	}
	if a.Shrink == 0 {
		a.Shrink = 0.5
	}
	if a.Grow == 0 {
		a.Grow = 2
	}
	if a.MaxBacktracks == 0 {
		a.MaxBacktracks = 40
	}
	return a
}

// Init evaluates the start.
func (a RGD) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if err := notNegative(a.Name(), "MaxBacktracks", a.MaxBacktracks); err != nil {
		return nil, err
	}
	blocks := e.Blocks()
	s := &RGDState{X: x, Grad: framework.NewPoint(blocks), Steps: make([][]float64, len(blocks)), Taken: make([][]float64, len(blocks))}
	for k, b := range blocks {
		n := 1
		if latent.SeparableRows(e, k) {
			n = b.Rows()
		}
		s.Steps[k], s.Taken[k] = make([]float64, n), make([]float64, n)
	}
	if a.BarzilaiBorwein {
		s.LastX, s.LastGrad = make(framework.Point, len(blocks)), make(framework.Point, len(blocks))
	}
	if anyRowSeparable(e) {
		var err error
		s.Cost, err = e.Evaluate(nil, x)
		return s, err
	}
	return s, s.evaluate(e)
}

// evaluate computes the cost and the gradient at X.
func (s *RGDState) evaluate(e *framework.Evaluator) error {
	cost, err := e.Gradient(s.Grad, s.X)
	if err != nil {
		return err
	}
	framework.Product(e.Blocks()).Gradient(s.Grad, s.X, s.Grad)
	s.Cost, s.Known = cost, true
	return nil
}

func anyRowSeparable(e *framework.Evaluator) bool {
	for k := range e.Blocks() {
		if latent.SeparableRows(e, k) {
			return true
		}
	}
	return false
}

// Step moves every block once. The gradient at the end is computed for all blocks: the first block of the next
// step needs its part, at the same number of evaluations.
func (a RGD) Step(e *framework.Evaluator, state framework.State) error {
	a = a.withDefaults()
	s := state.(*RGDState)
	if s.trial == nil {
		s.trial = framework.NewPoint(e.Blocks())
	}
	moved := false
	for k, b := range e.Blocks() {
		if b.Dim() == 0 {
			continue
		}
		search := a.moveBlock
		if latent.SeparableRows(e, k) {
			search = a.moveRows
		}
		m, err := search(e, s, k)
		if err != nil {
			return err
		}
		moved = moved || m
	}
	switch {
	case !moved:
		return framework.ErrNoProgress
	case anyRowSeparable(e):
		return nil
	default:
		return s.evaluate(e)
	}
}

// moveBlock takes one step in a block as a whole and reports whether it moved.
func (a RGD) moveBlock(e *framework.Evaluator, s *RGDState, k int) (bool, error) {
	b := e.Blocks()[k]
	g := s.Grad[k]
	if !s.Known {
		cost, err := e.Gradient(only(s.Grad, k), s.X)
		if err != nil {
			return false, err
		}
		s.Cost = cost
		b.Gradient(g, s.X[k], g)
	}
	slope := b.Inner(s.X[k], g, g)
	if slope == 0 {
		return false, nil
	}
	_, zero := framework.As[framework.Certifier](e.Problem())
	s.unit = !zero
	eta := a.firstStep(s, b, k, 0, s.Cost, slope)
	a.remember(s, k, 0, s.X[k], g)
	trial := with(s.X, k, s.trial[k])
	for try := range a.MaxBacktracks + 1 {
		cost, err := a.tryBlock(e, b, trial, s.X, g, k, eta)
		if err != nil {
			return false, err
		}
		low, err := a.low(e, b, s, trial, k, cost, eta*slope)
		if err != nil {
			return false, err
		}
		if low {
			s.X[k], s.trial[k] = s.trial[k], s.X[k]
			s.Cost, s.Known = cost, false
			s.Steps[k][0], s.Taken[k][0] = a.nextStep(eta, try), eta
			return true, nil
		}
		eta *= a.shrink(cost)
	}
	s.Steps[k][0] = 0 // for a gradient of another size, not useful for the next
	return false, nil
}

// low reports whether the cost of a trial of block k satisfies Armijo's rule for the predicted reduction. Where
// rounding dominates the difference, the slope at the trial decides: see [HagerZhang].
func (a RGD) low(e *framework.Evaluator, b framework.Block, s *RGDState, trial framework.Point, k int, cost, predicted float64) (bool, error) {
	if predicted > nearRounding*math.Abs(s.Cost) {
		return cost <= s.Cost-a.Armijo*predicted && cost < s.Cost, nil
	}
	if !(cost <= s.Cost+costNoise*math.Abs(s.Cost)) {
		return false, nil
	}
	if s.end == nil {
		s.end, s.along = framework.NewPoint(e.Blocks()), framework.NewPoint(e.Blocks())
	}
	if _, err := e.Gradient(only(s.end, k), trial); err != nil {
		return false, err
	}
	g, end, along := s.Grad[k], s.end[k], s.along[k]
	b.Gradient(end, trial[k], end)
	b.Transport(along, s.X[k], trial[k], g)
	return -b.Inner(trial[k], end, along) <= (1-2*a.Armijo)*b.Inner(s.X[k], g, g), nil
}

// tryBlock evaluates one trial step; a retraction that fails counts as a step
// that is too long.
func (a RGD) tryBlock(e *framework.Evaluator, b framework.Block, trial, x framework.Point, g []float64, k int, eta float64) (float64, error) {
	for i, v := range g {
		trial[k][i] = -eta * v
	}
	if b.Retract(trial[k], x[k], trial[k]) != nil {
		return math.Inf(1), nil
	}
	return e.Evaluate(nil, trial)
}

// nextStep is the first trial of the next search after a success.
func (a RGD) nextStep(eta float64, tries int) float64 {
	if tries > 0 {
		return eta
	}
	return eta * a.Grow
}

// shrink shortens a step, and faster where the cost was not finite.
func (a RGD) shrink(cost float64) float64 {
	if math.IsInf(cost, 0) || math.IsNaN(cost) {
		return a.Shrink * a.Shrink * a.Shrink * a.Shrink
	}
	return a.Shrink
}

// firstStep chooses where the search of block k, or of its row i, begins.
func (a RGD) firstStep(s *RGDState, b framework.Block, k, i int, cost, slope float64) float64 {
	last := s.Steps[k][i]
	if a.Restart || last == 0 {
		if a.InitialStep > 0 {
			return a.InitialStep
		}
		if last == 0 && s.unit && len(s.Steps[k]) == 1 {
			return 1 / math.Sqrt(slope)
		}
		if last == 0 {
			return polyak(cost, slope)
		}
	}
	if !a.BarzilaiBorwein || len(s.LastX[k]) == 0 {
		return last
	}
	x, g, lastX, lastG := s.X[k], s.Grad[k], s.LastX[k], s.LastGrad[k]
	if len(s.Steps[k]) > 1 {
		x, g, lastX, lastG = b.Row(x, i), b.Row(g, i), b.Row(lastX, i), b.Row(lastG, i)
		b = framework.Block{Manifold: b.Manifold}
	}
	buf := s.trial[k][:len(x)]
	if _, ok := b.Manifold.(framework.Metric); ok {
		return barzilaiBorweinInMetric(b, x, g, lastX, lastG, buf, s.Taken[k][i], last)
	}
	return barzilaiBorwein(b, x, g, lastX, lastG, buf, last)
}

// barzilaiBorwein returns <s,s>/<s,y>, kept within a factor of 1000 of the last step, or the last step where the
// curvature along s is not positive.
func barzilaiBorwein(b framework.Block, x, g, lastX, lastG, buf []float64, last float64) float64 {
	for i := range buf {
		buf[i] = x[i] - lastX[i]
	}
	b.Project(buf, x, buf)
	ss, sg := b.Inner(x, buf, buf), b.Inner(x, buf, g)
	// <s, transported lastG> equals <s, lastG> in the surrounding space,
	// because s is tangent at x already.
	sy := sg - b.Inner(x, buf, lastG)
	if !(sy > 0) || !(ss > 0) {
		return last
	}
	return min(max(ss/sy, last/1e3), last*1e3)
}

// barzilaiBorweinInMetric is barzilaiBorwein for manifolds with a metric, where differences of points mean
// nothing: the last move was the step eta along -w, with w the last gradient transported to x, and
//
//	<s,s>/<s,y> = eta <w,w> / (<w,w> - <w,g>).
func barzilaiBorweinInMetric(b framework.Block, x, g, lastX, lastG, buf []float64, eta, last float64) float64 {
	b.Transport(buf, lastX, x, lastG)
	square := b.Inner(x, buf, buf)
	bent := square - b.Inner(x, buf, g)
	if !(bent > 0) || !(eta > 0) {
		return last
	}
	return min(max(eta*square/bent, last/1e3), last*1e3)
}

// remember stores the point and gradient for the next Barzilai-Borwein step.
func (a RGD) remember(s *RGDState, k, from int, x, g []float64) {
	if !a.BarzilaiBorwein {
		return
	}
	if len(s.LastX[k]) == 0 {
		s.LastX[k], s.LastGrad[k] = make([]float64, len(s.X[k])), make([]float64, len(s.X[k]))
	}
	copy(s.LastX[k][from:], x)
	copy(s.LastGrad[k][from:], g)
}
