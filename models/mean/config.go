package mean

import "github.com/scqm/scqm/framework"

// DefaultTolerance is the tolerance used if Tolerance of [Config].Options is 0.
const DefaultTolerance = 1e-8

// Config says how to compute a mean. Loss is required.
type Config struct {
	// Loss is the loss of the rows c - x_i.
	Loss framework.Loss
	// Solver is the algorithm; nil stands for L-BFGS with smoothing of kinks over decreasing lengths.
	Solver framework.Solver
	// Threads bounds the goroutines; below 1 stands for all processors. The
	// result does not depend on it.
	Threads int
	// Options are the limits of the run. A Tolerance of 0 stands for 1e-8.
	Options framework.Options
}

// Mean is the mean of rows under a loss.
type Mean struct {
	// C is the mean, of length D.
	C []float64
	// Loss is the loss that C minimises, Objective the sum of weighted losses.
	Loss      framework.Loss
	Objective float64
	// Run is the report of the solver.
	Run *framework.Result
}
