package scqm

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/precondition"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// ErrMemory is matched by errors about work that would take more memory than
// there is; the message has the figures. It is found before the work begins.
var ErrMemory = memory.ErrTooLarge

// wordBytes is the size of a number and of an index.
const wordBytes = 8

// footprint estimates the numbers that a computation holds at once, as float64, so that no product of sizes
// overflows. Every term is an array, or several of one size, named beside it.
type footprint struct {
	n, D, d, s, m, q float64
	shards, threads  float64
	point            float64 // of all blocks
	callers          float64 // of the loss

	radial, separable, quadratic, majorized, rounded, kinked bool
	squares                                                  bool // of the entries that are not missing
}

func newFootprint(x Data, loss framework.Loss, d, s, threads int) *footprint {
	f := &footprint{n: float64(x.N), D: float64(x.D), d: float64(d), s: float64(s)}
	f.m, f.q = f.d+f.s, f.d*(f.d+1)/2
	f.shards, f.threads = float64(par.Shards(x.N)+1), float64(par.Threads(threads))
	f.point = f.D + f.D*f.m + f.q*f.s + f.n*f.d
	if loss == nil {
		return f
	}
	if x.Missing {
		if by, err := losses.IgnoreMissing(loss); err == nil {
			loss = by
		}
	}
	f.callers = f.threads
	if l, ok := loss.(rowloss.HighLatency); ok {
		f.callers = max(f.threads, float64(l.Callers()))
	}
	f.squares = x.Missing && nearest.SquaresEntries(loss)
	_, f.radial = loss.(framework.Radial)
	_, f.separable = loss.(framework.Separable)
	_, f.quadratic = loss.(framework.Quadratic)
	_, f.majorized = loss.(framework.Majorizer)
	_, f.rounded = loss.(framework.Smoother)
	_, support := loss.(rowloss.SupportFunction)
	_, powers := loss.(rowloss.PowerSum)
	f.kinked = support || powers
	return f
}

// reserve reserves memory of so many numbers for a computation on rows.
func reserve(act string, x Data, numbers float64) (*memory.Reservation, error) {
	r, err := memory.Reserve(fmt.Sprintf("%s: %d rows of %d columns", act, x.N, x.D), wordBytes*numbers, "take fewer rows or columns")
	if err != nil {
		return nil, fmt.Errorf("scqm: %w", err)
	}
	return r, nil
}

// problem counts a Problem with its workers.
func (f *footprint) problem() float64 {
	sums := f.shards * (f.D + f.m*f.D + f.q*f.s)
	return f.point + sums + 3*f.sheet() + f.callers*f.worker()
}

func (f *footprint) sheet() float64 { return f.D + f.m*f.D + f.q*f.s }

// worker counts the buffers of a goroutine, and the shared memory of a loss that
// is computed elsewhere, which is a power of two.
func (f *footprint) worker() float64 {
	batch := min(max(nearest.BatchEntries/f.D, 4), f.n)
	buffers := batch*(2*f.D+2*f.m+f.q+1) + f.m*f.d
	if f.callers > f.threads {
		buffers += 2 * batch * (2*f.D + 1)
	}
	return buffers
}

// components counts the memory of principal components.
func (f *footprint) components() float64 {
	return rows.ComponentsSize(int(f.n), int(f.D), int(f.m)+rotatedComponents)
}

// starts returns how many numbers a fit holds beside those of its solver: the first start with the heights and
// distances of its rows, the start of the current run and a copy, the best and the last point, the gradient of the
// report, and the model before and after it is put in canonical form.
func (f *footprint) starts(inits int) float64 {
	points := 8.0
	if inits > 1 {
		points += 2 // the best run so far
	}
	return points*f.point + (4+f.s)*f.n
}

// residuals counts the residuals of all rows.
func (f *footprint) residuals() float64 { return f.n * f.D }

// weights counts the weights of the rows or of their entries.
func (f *footprint) weights() float64 {
	if f.separable || f.majorized && !f.radial {
		return f.n * f.D
	}
	return f.n
}

// solver counts the state of a solver and what it has the problem make, but the
// residuals that the problem keeps for most solvers.
func (f *footprint) solver(solver framework.Solver) float64 {
	switch s := solver.(type) {
	case solvers.Continuation:
		return f.solver(s.Inner) + 2*f.point + f.finish(s)
	case solvers.Alternating:
		if f.radial && f.majorized || f.squares {
			return f.sweeps()
		}
		if f.quadratic {
			return f.sweeps() + f.formSweeps()
		}
		return 2 * f.point // which it refuses
	case solvers.Newton:
		return f.newton()
	case solvers.LBFGS:
		return f.lbfgs(s)
	case solvers.ConjugateGradient:
		return 10*f.point + f.preconditioner()
	case solvers.TrustRegion:
		return 22*f.point + f.preconditioner()
	case solvers.RGD:
		return f.descent()
	}
	// One that is written elsewhere evaluates costs and gradients.
	return 6 * f.point
}

// keepsResiduals reports whether a solver has the problem keep them, or as many numbers: sweeps do not, but
// where they round a kink, or fill missing entries.
func (f *footprint) keepsResiduals(solver framework.Solver) bool {
	if s, ok := solver.(solvers.Continuation); ok {
		solver = s.Inner
	}
	_, alternates := solver.(solvers.Alternating)
	return !alternates || !f.radial || !f.majorized || f.rounded && f.D-f.d <= objective.FewNormals
}

// sweeps counts the alternating solver with sweeps: two points more, the relocated rows, the moments of every
// shard, and the core.
func (f *footprint) sweeps() float64 {
	q := f.q
	if f.s == 0 {
		q = 0
	}
	features := f.d + q
	moments := (1+features)*f.D + 2*features*features
	core := (8*f.m+features)*f.D + 10*f.m*f.m + 5*features*f.m + q*q
	rows := f.threads * alternating.SweepRows * (4 + 2*(1+f.d+q))
	history := 2 * (2 + 8) * f.sheet() // of the mixing
	return 2*f.point + f.n*(2+f.d) + f.shards*moments + core + rows + history + f.projections()
}

// formSweeps counts what sweeps under a loss r'Mr hold in addition: a copy of the rows, a factor of the matrix,
// and frames.
func (f *footprint) formSweeps() float64 {
	return f.residuals() + 3*f.D*f.D + 3*f.m*f.D + 3*f.m*f.m
}

// projections counts the memory of projections.
func (f *footprint) projections() float64 {
	numbers := f.worker()/2 + 40*f.m*f.d + 40*f.d*f.d + 4*f.D + 8*f.q + 1<<14 + 2*f.s*f.d*f.d
	if f.kinked { // residuals, slopes and quadratics of the entries, and lists of their roots
		numbers += f.D * (12 + f.d)
	}
	return f.threads * numbers
}

// descent counts gradient descent: the state and its gradient, and step sizes
// of the rows.
func (f *footprint) descent() float64 {
	return 6*f.point + 6*f.n + f.projections()
}

// outer is the number of outer coordinates.
func (f *footprint) outer() float64 { return f.D + f.D*f.m - f.m*(f.m+1)/2 + f.q*f.s }

// hasArrowhead reports whether the second derivatives are within their size limits.
func (f *footprint) hasArrowhead() bool {
	return f.outer() <= arrowhead.MaxOuter && f.outer()*f.d*f.n <= arrowhead.MaxEntries
}

// newton counts a Newton state; without second derivatives it is descent.
func (f *footprint) newton() float64 {
	if !f.hasArrowhead() {
		return f.descent()
	}
	return 4*f.point + f.secondOrder()
}

// secondOrder counts second derivatives, their Schur complement with its reflections and the rotations of its
// eigenvalues (about outer^2, three numbers each, in a slice that grows), and what a problem holds once they were
// assembled: the rows in the frame, the sums of every shard, and the buffers of goroutines.
func (f *footprint) secondOrder() float64 {
	outer, features := f.outer(), 1+f.m+f.q
	system := 10*outer*outer + 40*outer + 2*outer*f.n*f.d + f.n*(2*f.d*f.d+6*f.d+3)
	sums := f.shards * (f.D*features + features*features + outer*outer)
	if f.separable {
		sums += f.shards * f.D * features * (features + 1) / 2
	}
	perBatch := features + 8*f.D + 4*f.d + 8
	if !f.radial {
		perBatch += f.D * f.D
	}
	workers := f.threads * (arrowhead.BatchRows*perBatch + 4*f.D*f.D + features*f.d + 2*outer)
	return system + sums + workers + f.residuals() + 8*f.D*f.D + f.projections()
}

// finish counts the polish after a continuation: a Newton state with a point and a Schur complement, and four
// arrays of dual variables.
func (f *footprint) finish(s solvers.Continuation) float64 {
	shape := latent.ArrowheadShape{Outer: int(f.outer()), Rows: int(f.n), Dim: int(f.d)}
	if !f.hasArrowhead() || !f.kinked || !s.Finishes(shape) {
		return 0
	}
	return 2*f.secondOrder() + 8*f.point + 4*f.residuals() + 2*f.shards*f.D*(1+f.m+f.q)
}

// probe counts the search for lower points along directions of negative curvature, beside the solver.
func (f *footprint) probe() float64 {
	outer := f.outer()
	if outer > latent.MaxProbedOuter {
		return 0
	}
	shape := latent.ArrowheadShape{Outer: int(outer), Rows: int(f.n), Dim: int(f.d)}
	if !shape.Probeable() {
		return 0
	}
	return f.secondOrder() + 4*f.point
}

// lbfgs counts the pairs, nine points of the state and its line search, and the
// preconditioner.
func (f *footprint) lbfgs(s solvers.LBFGS) float64 {
	pairs := float64(s.Memory)
	if pairs == 0 {
		pairs = 20
	}
	return (2*pairs+9)*f.point + f.preconditioner()
}

// preconditioner counts the preconditioner and the solver of its rows.
func (f *footprint) preconditioner() float64 {
	systems, size := 1.0, max(f.q, min(f.q*f.s, objective.MaxCoupled))
	if f.weights() > f.n {
		systems = f.D
	}
	preconditioner := f.n*f.d*f.d + f.weights() + systems*(1.5*(1+f.m)*(2+f.m)) + f.D*(1+f.m) +
		f.shards*(2*size*size+f.m*f.m+2*f.m*f.d+f.m+f.q)
	if f.quadratic {
		preconditioner += 3 * f.D * f.D
	}
	shape := sheet.Shape{D: int(f.D), Latent: int(f.d), S: int(f.s), Q: int(f.q), M: int(f.m)}
	if systems > 1 && precondition.Couples(shape) {
		preconditioner += float64(precondition.CouplingNumbers(shape, int(f.n), int(f.shards)))
	}
	return preconditioner + f.projections()
}

// reserveRows reserves the problem of rows in other coordinates: its own numbers, the rows, the residuals and a
// frame, and the numbers of the coordinates.
func (f *footprint) reserveRows(x Data, coordinates float64) (*memory.Reservation, error) {
	return reserve("fit", x, f.problem()+2*f.n*f.D+2*f.D*f.m+coordinates)
}

// rotatedComponents is the number of leading principal components that
// starts beyond the first are drawn from, or m where that is larger.
const rotatedComponents = 6
