package bindings

import (
	"errors"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

const (
	// maxViolation is how far off its manifold the point that Python returns
	// may be; it is put back.
	maxViolation = 1e-6
	// maxDrift is how far off points that count as being on it may be.
	maxDrift = 1e-12
)

// pythonSolver is a solver that Python runs from start to end within one step.
type pythonSolver struct {
	job  *job
	name string
}

// pythonState is the best point seen.
type pythonState struct {
	X    framework.Point
	Cost float64
	Over bool // Python has had its step
}

// Iterate returns the best point and its cost.
func (s *pythonState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Name is the name that the solver has in Python.
func (s pythonSolver) Name() string { return s.name }

// Init evaluates the start.
func (s pythonSolver) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	cost, err := e.Evaluate(nil, x)
	return &pythonState{X: x, Cost: cost}, err
}

// Step lets Python minimise; there is one step only.
func (s pythonSolver) Step(e *framework.Evaluator, state framework.State) error {
	st := state.(*pythonState)
	if st.Over {
		return framework.ErrNoProgress
	}
	st.Over = true
	m := &minimum{
		job: s.job, evaluator: e, best: st, start: st.X.Clone(), trial: framework.NewPoint(e.Blocks()),
		work: make(chan evaluation), end: make(chan framework.Point, 1),
	}
	return m.run()
}

// minimum is the run of a solver written in Python. Evaluations are made on the
// goroutine of the fit, so that the loss may be Python's too.
type minimum struct {
	job       *job
	evaluator *framework.Evaluator
	best      *pythonState
	start     framework.Point
	trial     framework.Point

	work chan evaluation
	end  chan framework.Point // where Python has ended; nil for the best point seen

	// The outcome of the last evaluation.
	cost float64
	err  error
	// spent is what the evaluator said when the budget was used up.
	spent error
}

// evaluation is a wish of Python's: the cost at x and, where there is a
// destination, the Euclidean gradient. Both are packed: block after block.
type evaluation struct{ x, grad []float64 }

// run serves Python until it has ended.
func (m *minimum) run() error {
	a := &ask{question: QuestionMinimum, minimum: m}
	select {
	case m.job.asks <- a:
	case <-m.job.ctx.Done():
		return m.stopped()
	}
	for {
		select {
		case w := <-m.work:
			m.cost, m.err = m.evaluate(w)
			m.job.answers <- struct{}{}
		case x := <-m.end:
			return m.finish(x)
		case <-m.job.ctx.Done():
			return m.stopped()
		}
	}
}

// stopped is the evaluator's own error for a context that is done.
func (m *minimum) stopped() error {
	_, err := m.evaluator.Evaluate(nil, m.start)
	return err
}

// evaluate computes the cost at a point of Python's and keeps the best one.
func (m *minimum) evaluate(w evaluation) (float64, error) {
	unpack(m.trial, w.x)
	if !m.trial.Finite() {
		return 0, fmt.Errorf("the point has NaN or infinite entries: %w", framework.ErrInvalid)
	}
	var grad framework.Point
	if w.grad != nil {
		grad = split(m.evaluator.Blocks(), w.grad)
	}
	cost, err := m.evaluator.Evaluate(grad, m.trial)
	if err != nil && errors.Unwrap(err) == nil {
		// What is wrapped by nothing is not the problem's error: it is the
		// evaluator's for a budget that is used up.
		m.spent = err
		return 0, errStopped
	}
	if err == nil && m.violation() <= maxDrift {
		m.keep(cost)
	}
	return cost, err
}

// keep notes the trial point if it is the best one.
func (m *minimum) keep(cost float64) {
	if cost <= m.best.Cost {
		m.best.X.CopyFrom(m.trial)
		m.best.Cost = cost
	}
}

// violation is how far the trial point is off its manifolds.
func (m *minimum) violation() float64 {
	var worst float64
	for k, b := range m.evaluator.Blocks() {
		worst = math.Max(worst, b.Violation(m.trial[k]))
	}
	return worst
}

// finish evaluates the point that Python returned, and leaves the best one.
func (m *minimum) finish(x framework.Point) error {
	if m.spent != nil {
		return m.spent
	}
	if x == nil {
		return nil
	}
	m.trial.CopyFrom(x)
	if v := m.violation(); !(v <= maxViolation) || !x.Finite() {
		return fmt.Errorf("solver returned a point off the manifold by %.3g; want at most %g: %w", v, maxViolation, framework.ErrInvalid)
	}
	for k, b := range m.evaluator.Blocks() {
		if b.Violation(m.trial[k]) <= maxDrift {
			continue
		}
		if err := b.Restore(m.trial[k]); err != nil {
			return err
		}
	}
	cost, err := m.evaluator.Evaluate(nil, m.trial)
	if err != nil {
		return err
	}
	m.keep(cost)
	return nil
}
