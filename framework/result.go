package framework

import "time"

// Result is the outcome of a run.
type Result struct {
	// Point is the best finite point seen, Cost the cost there.
	Point Point
	Cost  float64
	// Solver names what ran: the solver and, where others have taken over, those
	// in the order in which they did, as in "newton, then primal_dual".
	Solver string
	// Status says why the run ended, Message the same in a sentence.
	Status  Status
	Message string
	// Stationarity has one number per block, computed anew at Point (see
	// [Certifier]); nil where a cancelled or failed run left no time for it.
	Stationarity []float64
	// Tolerance is the stationarity up to which Point counts as converged, in its unit.
	Tolerance float64
	// Iterations, Counts and Elapsed say how much work was done.
	Iterations int
	Counts     Counts
	Elapsed    time.Duration
	// History has a record of the start and of every iteration.
	History []Record
}

// Record is a run between two iterations.
type Record struct {
	// Iteration counts the completed iterations, Cost is the cost of the iterate.
	Iteration int
	Cost      float64
	// GradientNorm is the largest Riemannian gradient norm of a block at the
	// iterate; NaN where the state does not tell its gradient (see [State]) or the problem is
	// a [Certifier].
	GradientNorm float64
	// Counts says how much work was done so far, Elapsed how long it took.
	Counts
	Elapsed time.Duration
	// Step is the distance from the iterate before, in coordinates; 0 at the start and where
	// the options have no Stop.
	Step float64
	// State is the solver's, whose iterate is the current point; nil in a history. Point is a
	// copy of that in records of [Iterate], else nil.
	State State
	Point Point
}
