package framework

// Status is the reason why a run ended.
type Status int

// The statuses of a run. In each the result holds the best finite point seen.
const (
	// Failed: the run could not continue; the error gives the reason.
	Failed Status = iota
	// Converged: the stationarity, computed again at the returned point, is within the tolerance.
	Converged
	// Stalled: the cost no longer falls, but the point is not stationary to
	// the tolerance.
	Stalled
	// MaxIterations, MaxEvaluations, TimeLimit: the budget is exhausted.
	MaxIterations
	MaxEvaluations
	TimeLimit
	// Cancelled: the context was cancelled.
	Cancelled
	// Unbounded: the cost falls without bound.
	Unbounded
	// Stopped: a [Stop] of the options has ended the run.
	Stopped
)

var statusNames = map[Status]string{
	Failed: "failed", Converged: "converged", Stalled: "stalled",
	MaxIterations: "max_iter", MaxEvaluations: "max_evaluations",
	TimeLimit: "time_limit", Cancelled: "cancelled", Unbounded: "unbounded", Stopped: "stopped",
}

// String returns the name used in files and reports, such as "max_iter".
func (s Status) String() string { return statusNames[s] }
