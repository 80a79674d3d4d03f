package bindings

import (
	"errors"
	"fmt"

	"github.com/scqm/scqm/framework"
)

const (
	// maxViolation is the maximum constraint violation of a point that Python returns. The
	// point is then moved onto its manifold.
	maxViolation = 1e-6
	// maxDrift is the constraint violation up to which a point counts as lying on its manifold.
	maxDrift = 1e-12
)

// pythonSolver is a solver written in Python. If it is a Python iterator that yields points, each
// point is an iteration. Otherwise the whole run of the solver is one iteration.
type pythonSolver struct {
	job  *job
	name string
	// advance runs one iteration of the Python solver on the current thread. It is nil if
	// Python waits for questions of the job instead.
	advance func() error
}

// pythonState holds the best point evaluated so far.
type pythonState struct {
	X    framework.Point
	Cost float64
	Grad framework.Point // the Riemannian gradient there; nil if unknown
	// Begun is true once Python has run an iteration. Over is true once it has run its last one.
	Begun, Over bool
}

// Iterate returns the best point so far and its cost.
func (s *pythonState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient implements [framework.Graded].
func (s *pythonState) Gradient() framework.Point { return s.Grad }

// Name returns the name that the solver has in Python.
func (s pythonSolver) Name() string { return s.name }

// Init evaluates the start point.
func (s pythonSolver) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	st := &pythonState{X: x}
	return st, s.complete(e, st)
}

// complete evaluates the iterate. It also computes the gradient, unless the problem has its own convergence measure.
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

// Step runs one iteration of the Python solver.
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

// minimum is one iteration of a solver written in Python. Costs are evaluated on the
// goroutine of the run, so that the loss may also be written in Python.
type minimum struct {
	job       *job
	evaluator *framework.Evaluator
	best      *pythonState
	begins    bool // the iteration is the first of the run
	start     framework.Point
	trial     framework.Point // the point evaluated last
	seen      bool            // trial was evaluated and lies on the manifold
	advance   func() error    // see pythonSolver

	work chan evaluation
	end  chan ending

	// The outcome of the last evaluation.
	cost float64
	err  error
	// spent is an error that ends the run even if Python goes on: the budget is used up,
	// or the cost is not finite.
	spent error
}

// ending is the answer with which Python ends an iteration. x is its point, or nil for
// the best one evaluated. more is true if further iterations follow.
type ending struct {
	x    framework.Point
	more bool
}

// evaluation is a request from Python for the cost at x and, if grad is not nil, for
// the Euclidean gradient. Both arrays are packed: block after block.
type evaluation struct{ x, grad []float64 }

// run evaluates the points that Python requests until Python ends the iteration.
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

// stopped returns the error that the evaluator reports after the context is done.
func (m *minimum) stopped() error {
	_, err := m.evaluator.Evaluate(nil, m.start)
	return err
}

// evaluate returns the cost at a point that Python requests, and stores the point if it is the best one.
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
			// An error without a wrapped error comes from the evaluator, not from the problem:
			// the budget is used up.
			err = errStopped
		}
		return 0, err
	}
	if m.seen = m.violation() <= maxDrift; m.seen {
		m.keep(cost, grad)
	}
	return cost, nil
}

// keep stores the trial point and, if known, the Euclidean gradient there, if its cost
// is the lowest so far.
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

// violation returns the constraint violation of the trial point.
func (m *minimum) violation() float64 {
	return framework.Product(m.evaluator.Blocks()).Violation(m.trial)
}

// finish evaluates the point that Python returned, unless it was evaluated last, and keeps the best point.
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
