package framework

// Status says why a run ended.
type Status int

// The endings of a run. In each the result holds the best finite point seen.
const (
	// Failed: the run could not go on; the error says why.
	Failed Status = iota
	// Converged: the stationarity, computed anew at the returned point, is
	// within the tolerance.
	Converged
	// Stalled: the cost no longer falls, but the point is not stationary to
	// the tolerance.
	Stalled
	// MaxIterations, MaxEvaluations, TimeLimit: the budget is used up.
	MaxIterations
	MaxEvaluations
	TimeLimit
	// Cancelled: the context was cancelled.
	Cancelled
	// Unbounded: the cost falls for ever, nothing bounds it from below.
	Unbounded
	// Stopped: a [Stop] of the options has ended the run for a reason of its own.
	Stopped
)

var statusNames = map[Status]string{
	Failed: "failed", Converged: "converged", Stalled: "stalled",
	MaxIterations: "max_iter", MaxEvaluations: "max_evaluations",
	TimeLimit: "time_limit", Cancelled: "cancelled", Unbounded: "unbounded", Stopped: "stopped",
}

// String returns the name used in files and reports, such as "max_iter".
func (s Status) String() string { return statusNames[s] }
