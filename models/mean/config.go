package mean

import "github.com/scqm/scqm/framework"

// DefaultTolerance is the tolerance of [Config].Options where it is 0.
const DefaultTolerance = 1e-8

// Config says how to compute a mean. Loss is required.
type Config struct {
	// Loss scores the rows of c - x_i.
	Loss framework.Loss
	// Solver is the algorithm; nil stands for L-BFGS, with kinks of the loss
	// rounded less and less.
	Solver framework.Solver
	// Threads bounds the goroutines; below 1 stands for all processors. The
	// result does not depend on it.
	Threads int
	// Options are the limits of the run. Tolerance is 1e-8 where it is 0.
	Options framework.Options
}

// Mean is the mean of rows under a loss.
type Mean struct {
	// C is the mean, of length D.
	C []float64
	// Loss is the loss it belongs to, Objective the sum of weighted losses.
	Loss      framework.Loss
	Objective float64
	// Run is what the solver reports.
	Run *framework.Result
}
