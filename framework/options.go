package framework

import (
	"fmt"
	"math"
	"time"
)

// Defaults of [Options] and [Checkpoint].
const (
	DefaultMaxIterations       = 10000
	DefaultTolerance           = 1e-6 // of the measure of a Certifier
	DefaultGradientTolerance   = 1e-8 // of the gradient at the start
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
	// MaxEvaluations bounds the evaluations of the cost and the products with
	// its Hessian, those inside line searches included; 0 stands for no bound. The evaluations that certify
	// a point are not bounded.
	MaxEvaluations int
	// TimeLimit bounds the wall-clock time, inside line searches too; 0 stands
	// for no bound.
	TimeLimit time.Duration
	// Begin is when the time limit and the time taken begin to count, for callers
	// that have worked for the run before; zero stands for the call of Solve.
	Begin time.Time
	// Tolerance is the largest stationarity of a block at which a point counts
	// as converged: in the unit of the problem's [Certifier], where 0 stands for 1e-6, or
	// else relative to the largest Riemannian gradient norm of a block at the start, where 0
	// stands for 1e-8; a negative number means never. A gradient that changes of the point in
	// its last digits make counts as none. Tolerance says when a run ends and nothing else: with a larger tolerance
	// a run is the beginning of one with a smaller tolerance. A run of a solver
	// whose states are graded ends at the first iterate within the tolerance.
	// Any other goes on where its last iteration lowered the cost by more than
	// 1e-8 of that at the start (of a [Certifier]; else of the fall since), unless the
	// stationarity is at most 1e-8.
	Tolerance float64
	// GradientUnit is the gradient norm that Tolerance is relative to where the problem is no
	// [Certifier]; 0 stands for that at the start, 1 makes Tolerance absolute.
	GradientUnit float64
	// MinRelativeDecrease ends a run when the cost falls by no more than this
	// fraction of itself in each of Patience iterations in a row; 0 stands for
	// 1e-12, a negative number means never. Where a solver tells its gradient
	// (see graded), decreases of less than 1e-12 do not end a run as long as
	// that falls by a tenth at least once in forty times Patience iterations.
	MinRelativeDecrease float64
	// Patience is described above; 0 stands for 5.
	Patience int
	// CheckEvery is the number of iterations between two computations of the
	// stationarity; 0 stands for 10, but none while an iteration lowers the
	// cost by more than a millionth: of itself where the problem is a
	// [Certifier], else of what it has fallen by since the start; and after every
	// iteration of 40 passes and more of a solver that holds its gradient. It has no
	// meaning where the solver tells its gradient (see graded).
	CheckEvery int
	// FirstOrder lets the test of first order alone end a run: rows are not
	// reassigned (see [Reassigner]), no directions of low curvature are probed
	// (see [MaxProbedOuter]), and the cost may still fall.
	FirstOrder bool
	// Stop ends the run where it says so, beside the limits above; nil never does. Limits of
	// -1 leave it alone in charge.
	Stop Stop
	// Observers are called after Init and after every iteration, in order, on
	// the goroutine of Solve. They must not change or keep what they are shown.
	Observers []func(Record)
	// Checkpoint stores the run from time to time; nil does not.
	Checkpoint *Checkpoint
}

// Begun returns the options with Begin, which is now where it was not set.
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
