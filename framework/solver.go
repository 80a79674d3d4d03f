package framework

// Solver is an algorithm: how to begin and how to go on. [Solve] owns
// everything else. A solver keeps no state of its own, so that one value can
// serve many runs at once. It may have two methods more:
//
//	Lacks(p Problem) string  // names the capability that it needs and p, as it is set up, does not offer; "" where it can serve p
//	NewState() State         // returns a pointer to an empty state, for package encoding/gob to fill: runs can be stored
//
// Init of a solver with Lacks refuses what it cannot serve with an [UnsupportedError],
// before it evaluates anything.
type Solver interface {
	// Name is the name under which users choose the solver, such as "rgd".
	Name() string
	// Init prepares a run from x, which the state may keep.
	Init(e *Evaluator, x Point) (State, error)
	// Step does one iteration. An error of the evaluator is handed on as it
	// is; the state must then still hold a valid iterate. ErrNoProgress says
	// that no step lowers the cost.
	Step(e *Evaluator, s State) error
}

// State is where a run stands. It is made of exported fields of basic types,
// so that package encoding/gob can store it and a restored run goes on bit for
// bit; what can be computed from those may be unexported. It may have methods more:
//
//	Gradient() Point          // the Riemannian gradient at the iterate, nil where it is not known
//	Pending() bool            // the iterate is behind the progress of the run
//	Refute(x Point) (reason string, err error)  // as that of a Problem
//	Resume(e *Evaluator) error
//	Successor() string        // the solver that has taken over, "" where none has
//
// Where a state tells its gradient, the norm is tested against the tolerance after every
// iteration, which costs nothing, and no test depends on constants that are added to the cost.
// While it is pending, a cost that stays is no stall, and the stationarity is not computed.
// Resume brings the problem, and what the state does not store of itself, to where they were
// when the state was stored; what it evaluates is not counted, as it was when it was done first.
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
