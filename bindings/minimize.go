package bindings

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/bindings/internal/python"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/solvers"
	"github.com/scqm/scqm/solvers/constrained"
)

// UsePython sets the addresses of the interpreter functions that [Minimize] needs,
// given as a JSON object with their names as keys. It returns 1.
func UsePython(addresses string) (int64, error) {
	return guarded("use python", func() (int64, error) {
		var a python.API
		if err := decode(addresses, &a); err != nil {
			return 0, err
		}
		return 1, python.Use(a)
	})
}

// minimizeSettings are the settings of [Minimize] and [CheckProblem].
type minimizeSettings struct {
	Blocks []manifoldChoice `json:"blocks"`
	Solver string           `json:"solver"`
	// Job is the number for a new job if the solver is written in Python, else 0.
	Job int64 `json:"job"`
	// Tolerance is the maximum norm of the Riemannian gradient of all blocks together at convergence.
	Tolerance float64 `json:"tol"`
	// MaxIterations is 0 for the default. TimeLimit is in seconds; 0 means no limit.
	MaxIterations int     `json:"max_iter"`
	TimeLimit     float64 `json:"time_limit"`
	// Constraints is the address of the table of addresses of the constraints lower <= c(x) <= upper and
	// of the bounds of the unknowns; 0 means none. Count is the number of entries of c. Feasibility is
	// the maximum violation at convergence, 0 for the default.
	Constraints uint64  `json:"constraints"`
	Count       int     `json:"count"`
	Feasibility float64 `json:"feasibility"`
	// Seed is the seed of the random directions of CheckProblem.
	Seed uint64 `json:"seed"`

	own framework.Solver // set if the solver is written in Python
}

// The indices of the addresses passed to Minimize. An array has the length of a point,
// with the blocks concatenated. A function is called without arguments; it reads and
// writes the arrays.
const (
	pointAt      = iota // array: where functions are to be evaluated
	gradientAt          // array: the Euclidean gradient there, of evaluateBoth and addGradient
	vectorAt            // array: a tangent vector there
	productAt           // array: the Euclidean Hessian times that vector, of multiply
	iterateAt           // array: the start; then the iterate shown; at the end the result
	progressAt          // array of progressEntries: what observe shows
	costOfAt            // function: returns the cost
	gradientOfAt        // function: writes the gradient
	bothOfAt            // function: returns the cost and writes the gradient
	productOfAt         // function: writes the product; 0 for none
	observeAt           // function: returns 1 to stop the run, else 0; 0 for none
	advanceAt           // function: does an iteration of a solver, see [AnswerPoint]; 0 for none
	raisedAt            // list that gets an exception
	addressEntries
)

// The indices of the array at progressAt.
const (
	progressIteration = iota
	progressCost
	progressGradient // NaN where it is not known
	progressCosts    // calls of the cost
	progressGradients
	progressProducts
	progressSeconds
	progressEntries
)

// function is a Python function; see [python.Function].
type function interface {
	Call() error
	Number() (float64, error)
}

// pythonProblem is a problem whose cost and derivatives are Python functions. They are
// called on the thread from which Python called Go.
type pythonProblem struct {
	blocks                             framework.Product
	x, grad, v, product, iterate, told []float64
	cost, gradient, both               function
	multiply, watch, advance           function // nil if Python has no such function
	costs, gradients, products         int64
	raised                             uint64 // list to which an exception is appended

	// failure is the error that ended the run. No Python function is called after it.
	failure error
	// stopped is true if the Python function observe asked to stop.
	stopped bool
}

// twiceDifferentiable is a pythonProblem with second derivatives.
type twiceDifferentiable struct{ *pythonProblem }

// newPythonProblem makes the problem from its blocks and the table of addresses.
func newPythonProblem(blocks []manifoldChoice, addresses uint64) (*pythonProblem, error) {
	list, err := viewOf[uint64]("addresses", addresses, addressEntries)
	if err != nil {
		return nil, err
	}
	p := &pythonProblem{raised: list[raisedAt]}
	if p.blocks, err = describedBlocks(blocks, p.note); err != nil {
		return nil, err
	}
	for at, to := range map[int]*[]float64{pointAt: &p.x, gradientAt: &p.grad, vectorAt: &p.v, productAt: &p.product, iterateAt: &p.iterate} {
		if *to, err = view("array", list[at], p.blocks.Size()); err != nil {
			return nil, err
		}
	}
	if p.told, err = view("progress", list[progressAt], progressEntries); err != nil {
		return nil, err
	}
	for at, to := range map[int]*function{costOfAt: &p.cost, gradientOfAt: &p.gradient, bothOfAt: &p.both, productOfAt: &p.multiply, observeAt: &p.watch, advanceAt: &p.advance} {
		if list[at] != 0 {
			*to = python.Function{Object: list[at], Raised: p.raised}
		}
	}
	if p.cost == nil || p.gradient == nil || p.both == nil || p.raised == 0 {
		return nil, fmt.Errorf("functions: no address: %w", framework.ErrInvalid)
	}
	return p, nil
}

// asProblem returns p with second derivatives if Python has them, and without them otherwise.
func (p *pythonProblem) asProblem() framework.Problem {
	if p.multiply == nil {
		return p
	}
	return twiceDifferentiable{p}
}

// Blocks implements [framework.Problem].
func (p *pythonProblem) Blocks() []framework.Block { return p.blocks }

// Evaluate implements [framework.Problem].
func (p *pythonProblem) Evaluate(grad, x framework.Point) (float64, error) {
	if p.failure != nil {
		return 0, p.failure
	}
	pack(p.x, x)
	p.costs++
	if !asked(grad) {
		cost, err := p.cost.Number()
		return cost, p.note(err)
	}
	p.gradients++
	cost, err := p.both.Number()
	if p.note(err) != nil {
		return 0, err
	}
	p.deliver(grad)
	return cost, nil
}

// Resume implements [framework.Problem].
func (p *pythonProblem) Resume(grad framework.Point) error {
	if p.failure != nil || !asked(grad) {
		return p.failure
	}
	p.gradients++
	if err := p.gradient.Call(); p.note(err) != nil {
		return err
	}
	p.deliver(grad)
	return nil
}

// HessianProduct implements [framework.TwiceDifferentiable].
func (p twiceDifferentiable) HessianProduct(dst, x, v framework.Point) error {
	if p.failure != nil {
		return p.failure
	}
	pack(p.x, x)
	pack(p.v, v)
	p.products++
	if err := p.multiply.Call(); p.note(err) != nil {
		return err
	}
	unpack(dst, p.product)
	return nil
}

// note stores err unless an earlier error is stored.
func (p *pythonProblem) note(err error) error {
	if p.failure == nil {
		p.failure = err
	}
	return err
}

// deliver copies the gradient from Python to the blocks of grad that are requested.
func (p *pythonProblem) deliver(grad framework.Point) {
	for k, from := range split(p.blocks, p.grad) {
		if grad[k] != nil {
			copy(grad[k], from)
		}
	}
}

// asked reports whether the gradient of any block is requested.
func asked(grad framework.Point) bool {
	return slices.ContainsFunc(grad, func(g []float64) bool { return g != nil })
}

// observe returns an observer that passes the iterate to Python. It calls cancel if Python asks to stop.
func (p *pythonProblem) observe(cancel func()) func(framework.Record) {
	if p.watch == nil {
		return nil
	}
	return func(s framework.Record) {
		if p.failure != nil || p.stopped {
			return
		}
		x, _ := s.State.Iterate()
		pack(p.iterate, x)
		p.told[progressIteration], p.told[progressCost] = float64(s.Iteration), s.Cost
		p.told[progressGradient] = float64(gradientNorm(p.blocks, s))
		p.told[progressCosts], p.told[progressGradients], p.told[progressProducts] = float64(p.costs), float64(p.gradients), float64(p.products)
		p.told[progressSeconds] = s.Elapsed.Seconds()
		stop, err := p.watch.Number()
		p.stopped = stop != 0
		if p.note(err) != nil || p.stopped {
			cancel()
		}
	}
}

// Minimize minimises a Python function on a product of manifolds. addresses is the address of a table
// of addresses of arrays and functions. Minimize returns a report and writes the point found to the
// array of the iterate. The report is a JSON object with the entries status, message, solver, fun,
// grad_norm (null if unknown), nit, nfev, ngev, nhev, seconds and history. With constraints, grad_norm
// is the gradient norm of the Lagrangian, and the report also has violation and multipliers. These are
// first the multipliers of the finite bounds of the unknowns, then those of the constraints. If a
// function raises an exception, the report is empty and the exception is in the caller's list.
func Minimize(settings string, addresses uint64) (string, error) {
	return guarded("minimize", func() (string, error) {
		s, p, err := calledProblem(settings, addresses)
		if err != nil {
			return "", err
		}
		c, err := newPythonConstraints(p, s.Count, s.Constraints)
		if err != nil {
			return "", err
		}
		return s.serve(p, func(s minimizeSettings) (string, error) { return s.minimize(p, c) })
	})
}

// serve runs a minimisation. A solver written in Python runs in a job, so that its
// calls find the problem by the number of the job.
func (s minimizeSettings) serve(p *pythonProblem, run func(minimizeSettings) (string, error)) (string, error) {
	if s.Job == 0 {
		return run(s)
	}
	if p.advance == nil {
		return "", fmt.Errorf("solver: no address: %w", framework.ErrInvalid)
	}
	if _, err := begin(s.Job, "minimize", true, func(j *job) (*outcome, error) {
		s.own = pythonSolver{job: j, name: s.Solver, advance: func() error { return p.note(p.advance.Call()) }}
		report, err := run(s)
		return &outcome{report: report}, err
	}); err != nil {
		return "", err
	}
	j, err := find(s.Job)
	if err != nil || j.err != nil {
		return "", errors.Join(err, j.err)
	}
	return j.result.report.(string), nil
}

// minimize runs the solver and returns the report of [Minimize].
func (s minimizeSettings) minimize(p *pythonProblem, c constrained.Problem) (string, error) {
	result, err := s.solve(p.asProblem(), c, p.iterate, p.observe)
	if p.failure != nil {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	pack(p.iterate, result.Point)
	return p.report(result)
}

// calledProblem decodes the settings and makes the problem from the Python functions at addresses.
func calledProblem(settings string, addresses uint64) (s minimizeSettings, p *pythonProblem, err error) {
	if err = decode(settings, &s); err == nil {
		p, err = newPythonProblem(s.Blocks, addresses)
	}
	return s, p, err
}

// solution is the result of a run, with the solver used and the trace of the run.
type solution struct {
	*framework.Result
	solver string
	trace  *runTrace

	violation   float64
	multipliers []float64
}

// solve minimises p from the packed start, subject to c unless c is nil. observe returns an observer
// or nil; the observer can end the run by calling the function that observe was given.
func (s minimizeSettings) solve(p framework.Problem, c constrained.Problem, packed []float64, observe func(cancel func()) func(framework.Record)) (solution, error) {
	start, err := startAt(p.Blocks(), packed)
	if err != nil {
		return solution{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := framework.Options{
		MaxIterations: s.MaxIterations, TimeLimit: seconds(s.TimeLimit),
		// The solver compares the norm of each block with its tolerance.
		Tolerance: math.Max(s.Tolerance/math.Sqrt(float64(len(start))), math.SmallestNonzeroFloat64),
	}
	trace := newRunTrace(p.Blocks())
	o.Observers = []func(framework.Record){trace.observe}
	if watch := observe(cancel); watch != nil {
		o.Observers = append(o.Observers, watch)
	}
	if c != nil {
		return s.solveUnder(ctx, c, start, o, trace)
	}
	solver, err := s.choose(p)
	if err != nil {
		return solution{}, err
	}
	result, err := framework.Solve(ctx, p, start, solver, o)
	return solution{Result: result, solver: solver.Name(), trace: trace}, err
}

// solveUnder minimises the cost of c subject to its constraints.
func (s minimizeSettings) solveUnder(ctx context.Context, c constrained.Problem, start framework.Point, o framework.Options, trace *runTrace) (solution, error) {
	under := constrained.Options{Feasibility: s.Feasibility, Options: o}
	if s.Solver != solverAuto {
		var err error
		if under.Inner, err = s.choose(c); err != nil {
			return solution{}, err
		}
	}
	r, err := constrained.Solve(ctx, c, start, under)
	if err != nil {
		return solution{}, err
	}
	return solution{r.Result, r.Solver, trace, r.Violation, r.Multipliers}, nil
}

// choose returns the solver that the settings name.
func (s minimizeSettings) choose(p framework.Problem) (framework.Solver, error) {
	if s.own != nil {
		return s.own, nil
	}
	if s.Solver == solverAuto {
		return solvers.Auto(p), nil
	}
	return solvers.ByName(s.Solver) // the solver rejects problems that it cannot solve
}

// startAt returns the point stored in a packed array.
func startAt(blocks framework.Product, packed []float64) (framework.Point, error) {
	x := framework.NewPoint(blocks)
	unpack(x, packed)
	for k, b := range blocks {
		if !(framework.Point{x[k]}).Finite() {
			return nil, fmt.Errorf("block %s of the start has NaN or infinite entries: %w", b.Name, framework.ErrInvalid)
		}
		if v := b.Violation(x[k]); !(v <= maxViolation) {
			return nil, fmt.Errorf("block %s of the start is off the manifold (%v) by %.3g; the manifold's nearest_point puts it there: %w",
				b.Name, b.Manifold, v, framework.ErrInvalid)
		}
	}
	return x, nil
}

// gradientNorm returns the norm of the Riemannian gradient at x.
func (p *pythonProblem) gradientNorm(x framework.Point) (float64, error) {
	g := framework.NewPoint(p.blocks)
	if _, err := p.Evaluate(g, x); err != nil {
		return math.NaN(), err
	}
	p.blocks.Gradient(g, x, g)
	return p.blocks.Norm(x, g), nil
}

// report returns the result as JSON.
func (p *pythonProblem) report(result solution) (string, error) {
	var last float64
	for _, s := range result.Stationarity {
		last = math.Hypot(last, s)
	}
	if result.Stationarity == nil { // the run was cancelled
		var err error
		if last, err = p.gradientNorm(result.Point); err != nil {
			return "", nil // Python raises the stored exception
		}
	}
	if p.stopped && result.Status == framework.Cancelled {
		result.Message = fmt.Sprintf("stopped by the callback after %d iterations; the best point so far is kept", result.Iterations)
	}
	return encode(map[string]any{
		"status": result.Status.String(), "message": result.Message, "solver": result.solver, "fun": result.Cost, "grad_norm": norm(last),
		"nit": result.Iterations, "nfev": p.costs, "ngev": p.gradients, "nhev": p.products, "seconds": result.Elapsed.Seconds(),
		"history": result.trace, "violation": norm(result.violation), "multipliers": result.multipliers,
	})
}

// CheckProblem checks a problem of Python functions against the laws of problems, at the point in the
// array of the iterate. It checks derivatives by the order of Taylor remainders. The arguments are
// those of [Minimize]. The report is a list of objects with law, ok and detail.
func CheckProblem(settings string, addresses uint64) (string, error) {
	return guarded("check gradient", func() (string, error) {
		s, p, err := calledProblem(settings, addresses)
		if err != nil {
			return "", err
		}
		x, err := startAt(p.blocks, p.iterate)
		if p.failure != nil {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		report := frameworktest.CheckProblem("cost", p.asProblem(), frameworktest.ProblemOptions{Point: x, Seed: s.Seed})
		if p.failure != nil {
			return "", nil
		}
		return encode(report.Verdicts)
	})
}
