package framework

// Solver is an algorithm: how to begin and how to go on. [Solve] owns
// everything else. A solver keeps no state of its own, so that one value can
// serve many runs at once.
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
// bit; what can be computed from those may be unexported.
type State interface {
	// Iterate returns the current point and its cost. The point belongs to
	// the state and is valid until the next Step.
	Iterate() (Point, float64)
}
