package bindings

import (
	"errors"
	"fmt"

	"github.com/scqm/scqm/framework"
)

const (
	// maxViolation is how far off its manifold the point that Python returns
	// may be; it is put back.
	maxViolation = 1e-6
	// maxDrift is how far off points that count as being on it may be.
	maxDrift = 1e-12
)

// pythonSolver is a solver written in Python. One whose points come one by one is an
// iterator there, and each is an iteration; any other runs from start to end within one.
type pythonSolver struct {
	job  *job
	name string
	// advance lets Python do an iteration on this very thread; nil where Python waits for
	// questions of the job.
	advance func() error
}

// pythonState is the best point seen.
type pythonState struct {
	X    framework.Point
	Cost float64
	Grad framework.Point // the Riemannian gradient there, nil where it is not known
	// Begun says that Python has had an iteration, Over that it has had its last.
	Begun, Over bool
}

// Iterate returns the best point and its cost.
func (s *pythonState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient implements [framework.Graded].
func (s *pythonState) Gradient() framework.Point { return s.Grad }

// Name is the name that the solver has in Python.
func (s pythonSolver) Name() string { return s.name }

// Init evaluates the start.
func (s pythonSolver) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	st := &pythonState{X: x}
	return st, s.complete(e, st)
}

// complete evaluates the iterate, with its gradient unless the problem has a measure of its own.
func (s pythonSolver) complete(e *framework.Evaluator, st *pythonState) error {
	var err error
	if _, own := e.Problem().(framework.Certifier); own {
		if !st.Begun {
			st.Cost, err = e.Evaluate(nil, st.X)
		}
		return err
	}
	if st.Grad != nil {
		return nil
	}
	grad := framework.NewPoint(e.Blocks())
	if st.Cost, err = e.Gradient(grad, st.X); err == nil {
		st.Grad = grad
		framework.Product(e.Blocks()).Gradient(grad, st.X, grad)
	}
	return err
}

// Step lets Python do an iteration.
func (s pythonSolver) Step(e *framework.Evaluator, state framework.State) error {
	st := state.(*pythonState)
	if st.Over {
		return framework.ErrNoProgress
	}
	m := &minimum{
		job: s.job, evaluator: e, best: st, begins: !st.Begun, start: st.X.Clone(), trial: framework.NewPoint(e.Blocks()),
		advance: s.advance, work: make(chan evaluation), end: make(chan ending, 1),
	}
	st.Begun = true
	if err := m.run(); err != nil {
		return err
	}
	return s.complete(e, st)
}

// minimum is an iteration of a solver written in Python. Evaluations are made on the
// goroutine of the run, so that the loss may be Python's too.
type minimum struct {
	job       *job
	evaluator *framework.Evaluator
	best      *pythonState
	begins    bool // the run begins here
	start     framework.Point
	trial     framework.Point // the point evaluated last
	seen      bool            // there is one, and it is on the manifold
	advance   func() error    // see pythonSolver

	work chan evaluation
	end  chan ending

	// The outcome of the last evaluation.
	cost float64
	err  error
	// spent is the error that ends the run, whatever Python does: the budget is used up, or the
	// cost is not finite.
	spent error
}

// ending is how Python ends an iteration: at a point, nil for the best one seen. more says
// that others are to follow.
type ending struct {
	x    framework.Point
	more bool
}

// evaluation is a wish of Python's: the cost at x and, where there is a
// destination, the Euclidean gradient. Both are packed: block after block.
type evaluation struct{ x, grad []float64 }

// run serves Python until it has ended.
func (m *minimum) run() error {
	if m.advance != nil {
		m.job.minimum = m
		err := m.advance()
		if err == nil {
			err = m.finish(<-m.end)
		}
		return err
	}
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
		case end := <-m.end:
			return m.finish(end)
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
	if err != nil {
		m.spent = err
		if errors.Unwrap(err) == nil {
			// What is wrapped by nothing is not the problem's error: it is the
			// evaluator's for a budget that is used up.
			err = errStopped
		}
		return 0, err
	}
	if m.seen = m.violation() <= maxDrift; m.seen {
		m.keep(cost, grad)
	}
	return cost, nil
}

// keep notes the trial point, and the Euclidean gradient there where it is known, if it is
// the best one.
func (m *minimum) keep(cost float64, grad framework.Point) {
	if !(cost <= m.best.Cost) {
		return
	}
	if !m.best.X.Equal(m.trial) {
		m.best.Grad = nil
	}
	m.best.X.CopyFrom(m.trial)
	m.best.Cost = cost
	if grad != nil {
		m.best.Grad = framework.NewPoint(m.evaluator.Blocks())
		framework.Product(m.evaluator.Blocks()).Gradient(m.best.Grad, m.trial, grad)
	}
}

// violation is how far the trial point is off its manifolds.
func (m *minimum) violation() float64 {
	return framework.Product(m.evaluator.Blocks()).Violation(m.trial)
}

// finish evaluates the point that Python returned, unless it did last, and leaves the best one.
func (m *minimum) finish(end ending) error {
	m.best.Over = !end.more
	if m.spent != nil || end.x == nil || end.x.Equal(m.best.X) || m.seen && end.x.Equal(m.trial) {
		return m.spent
	}
	m.trial.CopyFrom(end.x)
	if v := m.violation(); !(v <= maxViolation) || !m.trial.Finite() {
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
	m.keep(cost, nil)
	return nil
}
