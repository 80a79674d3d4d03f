package constrained

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// DefaultFeasibility is the Feasibility that 0 stands for.
const DefaultFeasibility = 1e-9

const (
	// firstPenalty is the gradient of the penalty at a violation of the size of the point, in
	// units of that of the cost.
	firstPenalty = 10
	// probes is the number of steps by which constraints are measured, reach their length in units
	// of the size of the point.
	probes, reach = 8, 0.1
	// maxOuter bounds the minimisations of one run.
	maxOuter = 100
	// growth multiplies the penalty after a minimisation that has not reduced the violation by the factor progress.
	growth, progress = 10, 0.25
	// maxGrowth is how far the penalty may grow.
	maxGrowth = 1e12
	// sharpening is the ratio of the first tolerance to the norm of the gradient. It multiplies the tolerance after a
	// minimisation that has reduced the violation.
	sharpening = 0.1
)

// Options are the limits of a run.
type Options struct {
	// Options are those of all minimisations together: MaxIterations, MaxEvaluations and
	// TimeLimit are sums, 0 stands for 10,000 iterations. Tolerance bounds the norm of the
	// Riemannian gradient of the Lagrangian, per block. Observers see the augmented
	// Lagrangian as the cost. There are no checkpoints.
	framework.Options
	// Inner is the solver of the minimisations; nil chooses.
	Inner framework.Solver
	// Feasibility is the largest distance of a constraint from its bounds, in the unit of
	// the constraint, at which a run has converged; 0 stands for 1e-9. Multipliers of
	// constraints that are further than that from their bounds are 0.
	Feasibility float64
}

// Result is the outcome of a run. Stationarity is the norm of the Riemannian gradient of
// f + c'y, block by block.
type Result struct {
	*framework.Result
	// Multipliers are y: positive at an upper bound, negative at a lower one, 0 between. Each is the decrease of the
	// least cost per unit by which its bound rises.
	Multipliers []float64
	// Violation is the largest distance of a constraint from its bounds.
	Violation float64
}

// Solve minimises p from x0, which need not satisfy the constraints, by the method of multipliers. It minimises the
// [Lagrangian], sets y = z and repeats, with a larger penalty if the violation has not decreased enough. The result
// is Converged if the gradient of the Lagrangian, the constraints and the multipliers are within the tolerances at
// the returned point: the first-order conditions of a minimum.
//
// Sources: M. R. Hestenes, Multiplier and gradient methods, J. Optim. Theory Appl. 4 (1969);
// R. T. Rockafellar, Augmented Lagrange multiplier functions and duality in nonconvex
// programming, SIAM J. Control 12 (1974); E. G. Birgin and J. M. Martinez, Practical
// Augmented Lagrangian Methods for Constrained Optimization, SIAM 2014; C. Liu and N.
// Boumal, Simple algorithms for optimization on Riemannian manifolds with constraints, Appl.
// Math. Optim. 82 (2020).
func Solve(ctx context.Context, p Problem, x0 framework.Point, o Options) (res *Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, fmt.Errorf("constrained: %w: %v", framework.ErrPanic, v)
		}
	}()
	l, err := NewLagrangian(p, 1)
	if err != nil {
		return nil, err
	}
	if o, err = o.withDefaults(l); err != nil {
		return nil, err
	}
	return (&run{l: l, o: o, x: x0, before: math.Inf(1)}).solve(ctx)
}

func (o Options) withDefaults(l *Lagrangian) (Options, error) {
	switch {
	case o.Checkpoint != nil:
		return o, fmt.Errorf("constrained: runs are not stored; set no Checkpoint: %w", framework.ErrInvalid)
	case !(o.Feasibility >= 0) || o.MaxEvaluations < 0:
		return o, fmt.Errorf("constrained: Feasibility and MaxEvaluations must not be negative: %w", framework.ErrInvalid)
	}
	o.Options = o.Begun()
	if o.Feasibility == 0 {
		o.Feasibility = DefaultFeasibility
	}
	if o.Tolerance == 0 {
		o.Tolerance = framework.DefaultTolerance
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = framework.DefaultMaxIterations
	}
	if o.Inner == nil {
		o.Inner = solvers.Auto(l)
	}
	return o, nil
}
