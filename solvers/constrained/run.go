package constrained

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// run is one call of Solve.
type run struct {
	l       *Lagrangian
	o       Options
	x       framework.Point
	outer   int     // minimisations
	sharp   float64 // tolerance of the next one
	left    float64 // residual of the conditions on constraints and multipliers
	before  float64 // left after the previous minimisation
	far     float64 // violation above which the penalty is too small
	least   float64 // the first penalty
	total   framework.Counts
	steps   int
	history []framework.Record
}

// balanced is a solver that chooses the penalty at the start of the first minimisation.
type balanced struct {
	framework.Solver
	r *run
}

// Init implements [framework.Solver].
func (b balanced) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if _, err := e.Evaluate(nil, x); err != nil { // within the budget, of a finite cost
		return nil, err
	}
	if err := b.r.balance(x); err != nil {
		return nil, err
	}
	return b.Solver.Init(e, x)
}

// balance chooses the units of the constraints, the first tolerance, and the penalty at which violations of the
// size of the point have ten times the gradient of the cost.
func (r *run) balance(x framework.Point) error {
	size := math.Max(1, x.Norm())
	if err := r.measure(x, size); err != nil {
		return err
	}
	slope, err := r.slope(x, size)
	if err != nil {
		return err
	}
	if p := firstPenalty * slope / size; p > 0 && p <= math.MaxFloat64 {
		r.l.Penalty = p
	}
	r.least, r.sharp = r.l.Penalty, math.Max(r.o.Tolerance, sharpening*slope)
	r.far = math.Max(r.l.violation(r.l.Units), size) / progress
	return nil
}

// measure sets the unit of each constraint to the norm of its gradient, rounded to a power of ten. It estimates
// the norm by differences along random steps, long enough to also measure constraints that are flat only at x.
func (r *run) measure(x framework.Point, size float64) error {
	blocks := framework.Product(r.l.Blocks())
	y, rng := framework.NewPoint(blocks), rand.New(rand.NewPCG(1, 2))
	ends, probed := make([]float64, len(r.l.c)), make([]float64, len(r.l.c))
	for range probes {
		v := direction(blocks, x, rng)
		v.Scale(reach * size)
		if blocks.Retract(y, x, v) != nil {
			continue
		}
		if err := r.l.Constraints(ends, y); err != nil {
			return err
		}
		if _, err := r.l.weigh(x); err != nil {
			return err
		}
		for i, c := range r.l.c {
			if d := (ends[i] - c) / (reach * size); d-d == 0 {
				probed[i] += d * d * float64(blocks.Dim()) / probes
			}
		}
	}
	for i, square := range probed {
		if u := math.Pow(10, math.Round(math.Log10(square)/2)); u > 0 && u <= math.MaxFloat64 {
			r.l.Units[i] = u
		}
	}
	_, err := r.l.weigh(x)
	return err
}

// direction is a random tangent vector at x of length 1.
func direction(blocks framework.Product, x framework.Point, rng *rand.Rand) framework.Point {
	v := framework.NewPoint(blocks)
	for _, b := range v {
		for i := range b {
			b[i] = rng.NormFloat64()
		}
	}
	blocks.Project(v, x, v)
	if length := blocks.Norm(x, v); length > 0 {
		v.Scale(1 / length)
	}
	return v
}

// slope returns the norm of the gradient of the cost at x, plus the norm of its first-order change along a random step
// of the given size. The change matters if x is the minimum without constraints, where the gradient is 0.
func (r *run) slope(x framework.Point, size float64) (float64, error) {
	blocks := framework.Product(r.l.Blocks())
	g, h := framework.NewPoint(blocks), framework.NewPoint(blocks)
	if _, err := r.l.Problem.Evaluate(g, x); err != nil {
		return 0, err
	}
	v := direction(blocks, x, rand.New(rand.NewPCG(3, 4)))
	err := framework.NewEvaluator(context.Background(), r.l.Problem).Hessian(h, x, g, v)
	blocks.Gradient(g, x, g)
	return blocks.Norm(x, g) + size*blocks.Norm(x, h), err
}

// solve minimises until the conditions hold or the budget is used up.
func (r *run) solve(ctx context.Context) (*Result, error) {
	for {
		res, err := r.minimise(ctx)
		lost := errors.Is(err, framework.ErrNonFinite) && r.outer > 1
		if res == nil || err != nil && !lost {
			return r.finish(res, framework.Failed, err)
		}
		if s := res.Status; s == framework.TimeLimit || s == framework.Cancelled || r.spent() {
			return r.finish(res, s, nil)
		}
		if err := r.weigh(res.Point); err != nil {
			return r.finish(res, framework.Failed, err)
		}
		switch {
		case lost || res.Status != framework.Converged && r.l.violation(r.l.Units) > r.far:
			r.l.Penalty *= growth // too small for there to be a minimum: begin again
		case r.within(res.Stationarity):
			return r.finish(res, framework.Converged, nil)
		case r.left <= r.o.Feasibility && r.before <= r.o.Feasibility && r.sharp == r.o.Tolerance:
			return r.finish(res, framework.Stalled, nil)
		default:
			r.advance(res)
		}
		if r.outer >= maxOuter || r.l.Penalty > maxGrowth*r.least {
			return r.finish(res, framework.Stalled, nil)
		}
	}
}

// minimise does the next minimisation of the augmented Lagrangian, from x.
func (r *run) minimise(ctx context.Context) (*framework.Result, error) {
	o, before, steps := r.o.Options, r.total, r.steps
	o.Tolerance, o.GradientUnit = r.sharp, 1
	if o.MaxIterations > 0 {
		o.MaxIterations -= steps
	}
	if r.o.MaxEvaluations > 0 {
		o.MaxEvaluations = r.o.MaxEvaluations - before.Evaluations - before.Hessians
	}
	o.Observers = make([]func(framework.Record), len(r.o.Observers))
	for i, observe := range r.o.Observers {
		o.Observers[i] = func(p framework.Record) {
			p.Iteration, p.Counts = p.Iteration+steps, sum(before, p.Counts)
			observe(p)
		}
	}
	solver := r.o.Inner
	if r.outer == 0 {
		solver = balanced{solver, r}
	}
	r.outer++
	res, err := framework.Solve(ctx, r.l, r.x, solver, o)
	if res != nil {
		r.steps, r.total = steps+res.Iterations, sum(before, res.Counts)
		for _, record := range res.History {
			record.Iteration, record.Counts = record.Iteration+steps, sum(before, record.Counts)
			r.history = append(r.history, record)
		}
	}
	return res, err
}

// sum adds counts.
func sum(a, b framework.Counts) framework.Counts {
	b.Evaluations, b.Hessians, b.Passes = a.Evaluations+b.Evaluations, a.Hessians+b.Hessians, a.Passes+b.Passes
	return b
}

// spent reports whether the budget of all minimisations is used up.
func (r *run) spent() bool {
	return r.o.MaxIterations > 0 && r.steps >= r.o.MaxIterations ||
		r.o.MaxEvaluations > 0 && r.total.Evaluations+r.total.Hessians >= r.o.MaxEvaluations
}

// weigh computes the multipliers at x, in the weights of the Lagrangian. It also computes left, the residual of the
// conditions: with z = r (s - P(s)), (z - y)/r = c - P(s), in the unit of each constraint.
func (r *run) weigh(x framework.Point) error {
	_, err := r.l.weigh(x)
	r.left = 0
	for i, z := range r.l.weights {
		r.left = math.Max(r.left, math.Abs(z-r.l.Multipliers[i])/r.l.penalty(i))
	}
	return err
}

// within reports whether the conditions of a minimum hold to the tolerances.
func (r *run) within(stationarity []float64) bool {
	return r.left <= r.o.Feasibility && len(stationarity) > 0 && floats.Max(stationarity) <= r.o.Tolerance
}

// advance prepares the next minimisation: it starts from the last, with its multipliers, and with a larger penalty
// or a sharper tolerance.
func (r *run) advance(res *framework.Result) {
	r.x = res.Point
	copy(r.l.Multipliers, r.l.weights)
	if r.left > math.Max(progress*r.before, r.o.Feasibility) {
		r.l.Penalty *= growth
	}
	r.sharp = math.Max(r.o.Tolerance, sharpening*r.sharp)
	r.before = r.left
}

// finish returns the result. It computes everything anew at the returned point.
func (r *run) finish(inner *framework.Result, s framework.Status, failure error) (*Result, error) {
	if inner == nil {
		return nil, failure
	}
	res := &Result{Result: inner, Violation: math.Inf(1)}
	blocks := framework.Product(r.l.Blocks())
	g := framework.NewPoint(blocks)
	_, err := r.l.Evaluate(g, inner.Point)
	cost, err2 := r.l.Problem.Evaluate(nil, inner.Point)
	if err = errors.Join(err, err2, r.weigh(inner.Point)); err == nil {
		inner.Cost, res.Multipliers, res.Violation = cost, slices.Clone(r.l.weights), r.l.violation(nil)
		inner.Stationarity = inner.Stationarity[:0]
		for k, b := range blocks {
			b.Gradient(g[k], inner.Point[k], g[k])
			inner.Stationarity = append(inner.Stationarity, b.Norm(inner.Point[k], g[k]))
		}
		switch {
		case failure != nil:
		case r.within(inner.Stationarity):
			s = framework.Converged
		case s == framework.Converged:
			s = framework.Stalled
		}
	} else if s != framework.Cancelled && failure == nil {
		s, failure = framework.Failed, fmt.Errorf("constrained: at the returned point: %w", err)
	}
	inner.Status, inner.Iterations, inner.History, inner.Elapsed = s, r.steps, r.history, r.o.Elapsed()
	inner.Counts = r.total
	inner.Counts.Evaluations, inner.Counts.Passes = r.total.Evaluations+2, r.total.Passes+3
	inner.Message = r.message(res, failure)
	return res, failure
}

func (r *run) message(res *Result, failure error) string {
	if failure != nil {
		return fmt.Sprintf("failed; the last point is kept: %v", failure)
	}
	at := fmt.Sprintf("after %d minimisations the gradient of the Lagrangian is %.2g (tolerance %.2g) and the constraints are off by %.2g (tolerance %.2g)",
		r.outer, floats.Max(append([]float64{0}, res.Stationarity...)), r.o.Tolerance, r.left, r.o.Feasibility)
	switch {
	case res.Status == framework.Stalled && res.Violation > r.o.Feasibility && r.l.Penalty > maxGrowth*r.least:
		return at + "; no point nearby meets the constraints"
	case res.Status == framework.Converged || res.Status == framework.Stalled:
		return at
	default:
		return fmt.Sprintf("stopped (%v): %s", res.Status, at)
	}
}
