package framework

// Solver is an algorithm that begins a run and does its iterations. [Solve] does everything else. A solver keeps no
// state of its own, so that one value can serve many runs at once. It may have two further methods:
//
//	Lacks(p Problem) string  // names the capability that it needs and p, as it is set up, does not offer; "" where it can serve p
//	NewState() State         // returns a pointer to an empty state, for package encoding/gob to fill: runs can be stored
//
// Init of a solver with Lacks rejects a problem that it cannot serve with an [UnsupportedError], before it evaluates
// anything.
type Solver interface {
	// Name is the name under which users choose the solver, such as "rgd".
	Name() string
	// Init prepares a run from x, which the state may keep.
	Init(e *Evaluator, x Point) (State, error)
	// Step does one iteration. It returns an error of the evaluator unchanged; the state must then still hold a valid
	// iterate. It returns ErrNoProgress if no step lowers the cost.
	Step(e *Evaluator, s State) error
}

// State is the state of a run. It consists of exported fields of basic types, so that package encoding/gob can store
// it and a restored run continues bit for bit. Fields that can be computed from these may be unexported. It may have
// further methods:
//
//	Gradient() Point          // the Riemannian gradient at the iterate, nil where it is not known
//	Pending() bool            // the iterate is behind the progress of the run
//	Refute(x Point) (reason string, err error)  // as that of a Problem
//	Resume(e *Evaluator) error
//	Successor() string        // the solver that has taken over, "" where none has
//
// If a state reports its gradient, the norm is tested against the tolerance after every iteration at no cost, and no
// test depends on constants added to the cost. While a state is pending, a constant cost does not count as a stall,
// and the stationarity is not computed. Resume restores the problem, and the parts of the state that are not stored,
// to their values when the state was stored. Its evaluations are not counted, as they were counted before.
type State interface {
	// Iterate returns the current point and its cost. The point belongs to
	// the state and is valid until the next Step.
	Iterate() (Point, float64)
}

type (
	restorer  interface{ NewState() State }
	graded    interface{ Gradient() Point }
	pending   interface{ Pending() bool }
	resumable interface{ Resume(e *Evaluator) error }
	successor interface{ Successor() string }
)
