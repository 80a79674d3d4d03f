package framework

import "time"

// Result is the outcome of a run.
type Result struct {
	// Point is the best finite point seen, Cost the cost there.
	Point Point
	Cost  float64
	// Solver names the solver that ran and, in order, those that took over from it, as in "newton, then primal_dual".
	Solver string
	// Status says why the run ended, Message the same in a sentence.
	Status  Status
	Message string
	// Stationarity has one number per block, computed again at Point (see [Certifier]); nil if a cancelled or failed
	// run left no time for it.
	Stationarity []float64
	// Tolerance is the largest stationarity at which Point counts as converged, in the unit of Stationarity.
	Tolerance float64
	// Iterations, Counts and Elapsed are the work that was done.
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
	// GradientNorm is the largest Riemannian gradient norm of a block at the iterate; NaN if the state does not
	// report its gradient (see [State]) or the problem is a [Certifier].
	GradientNorm float64
	// Counts is the work done so far, Elapsed the time it took.
	Counts
	Elapsed time.Duration
	// Step is the distance from the previous iterate, in coordinates; 0 at the start and if the options have no Stop.
	Step float64
	// State is the solver's state at the current iterate; nil in a history. Point is a copy of the iterate in records
	// of [Iterate], otherwise nil.
	State State
	Point Point
}
