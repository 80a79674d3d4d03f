package framework

import (
	"fmt"
	"math"
	"time"
)

// Defaults of [Options] and [Checkpoint].
const (
	DefaultMaxIterations       = 10000
	DefaultTolerance           = 1e-6 // in the measure of a Certifier
	DefaultGradientTolerance   = 1e-8 // relative to the gradient at the start
	DefaultMinRelativeDecrease = 1e-12
	DefaultPatience            = 5
	DefaultCheckEvery          = 10
	DefaultCheckpointEvery     = 10 * time.Second
)

// Options are the limits of a run. The zero value is a good start.
type Options struct {
	// MaxIterations bounds the calls of Step; 0 stands for 10,000, a negative
	// number for no bound.
	MaxIterations int
	// MaxEvaluations bounds the evaluations of the cost and the products with its Hessian, including those in line
	// searches; 0 stands for no bound. Evaluations that certify a point do not count.
	MaxEvaluations int
	// TimeLimit bounds the wall-clock time, also inside line searches; 0 stands for no bound.
	TimeLimit time.Duration
	// Begin is the start of the time limit and of the elapsed time, for callers that have worked for the run before
	// Solve; zero stands for the call of Solve.
	Begin time.Time
	// Tolerance is the largest stationarity of a block at which a point counts as converged; a negative number means
	// never. If the problem is a [Certifier], it is in the unit of that, and 0 stands for 1e-6. Otherwise it is
	// relative to the largest Riemannian gradient norm of a block at the start, and 0 stands for 1e-8. A gradient as
	// small as rounding of the point makes it counts as zero. Tolerance only decides when a run ends: a run with a
	// larger tolerance is the beginning of one with a smaller tolerance. If the solver's states are graded, the run
	// ends at the first iterate within the tolerance. Otherwise it continues while an iteration lowers the cost by
	// more than 1e-8 of the cost at the start (without a [Certifier]: of the fall since), unless the stationarity is
	// at most 1e-8.
	Tolerance float64
	// GradientUnit is the gradient norm that Tolerance is relative to if the problem is not a [Certifier]; 0 stands
	// for the norm at the start, 1 makes Tolerance absolute.
	GradientUnit float64
	// MinRelativeDecrease ends a run when each of Patience iterations in a row lowers the cost by no more than this
	// fraction; 0 stands for 1e-12, a negative number means never. If a solver reports its gradient (see graded),
	// decreases of less than 1e-12 do not end a run as long as the gradient norm falls by a tenth at least once in
	// forty times Patience iterations.
	MinRelativeDecrease float64
	// Patience is the number of iterations in MinRelativeDecrease; 0 stands for 5.
	Patience int
	// CheckEvery is the number of iterations between two computations of the stationarity; it has no effect if the
	// solver reports its gradient (see graded). 0 stands for 10, but for no check while an iteration lowers the cost
	// by more than a millionth: of the cost if the problem is a [Certifier], otherwise of its fall since the start.
	// For a solver that holds its gradient, 0 also adds a check after every iteration of 40 passes or more.
	CheckEvery int
	// FirstOrder lets the first-order test alone end a run: rows are not reassigned (see [Reassigner]), directions of
	// low curvature are not probed (see [MaxProbedOuter]), and the cost may still fall.
	FirstOrder bool
	// Stop is a further condition that ends the run; nil never does. With limits of -1 it is the only one.
	Stop Stop
	// Observers are called after Init and after every iteration, in order, on the goroutine of Solve. They must not
	// change or keep their arguments.
	Observers []func(Record)
	// Checkpoint stores the run from time to time; nil does not.
	Checkpoint *Checkpoint
}

// Begun returns the options with Begin set, to the current time if it was zero.
func (o Options) Begun() Options {
	if o.Begin.IsZero() {
		o.Begin = time.Now()
	}
	return o
}

// Elapsed is the time since Begin.
func (o Options) Elapsed() time.Duration { return time.Since(o.Begin) }

// OutOfTime reports whether there is a time limit and it has passed since Begin.
func (o Options) OutOfTime() bool { return o.TimeLimit > 0 && o.Elapsed() >= o.TimeLimit }

func (o Options) withDefaults() (Options, error) {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"Tolerance", o.Tolerance},
		{"MinRelativeDecrease", o.MinRelativeDecrease},
		{"GradientUnit", o.GradientUnit},
	} {
		if math.IsNaN(f.value) {
			return o, fmt.Errorf("framework: option %s is NaN: %w", f.name, ErrInvalid)
		}
	}
	if o.TimeLimit < 0 || o.MaxEvaluations < 0 || o.GradientUnit < 0 {
		return o, fmt.Errorf("framework: options TimeLimit, MaxEvaluations and GradientUnit must not be negative: %w", ErrInvalid)
	}
	o = o.Begun()
	setDefault(&o.MaxIterations, DefaultMaxIterations)
	setDefault(&o.MinRelativeDecrease, DefaultMinRelativeDecrease)
	setDefault(&o.Patience, DefaultPatience)
	return o, nil
}

func setDefault[T int | float64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
