package scqm

import (
	"cmp"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/precondition"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// ErrMemory is matched by the error of a computation that would exceed the available memory. The message has the
// figures. The error is returned before the computation begins.
var ErrMemory = memory.ErrTooLarge

// wordBytes is the size in bytes of a float64 and of an int.
const wordBytes = 8

// footprint estimates an upper bound of the count of numbers that a computation holds at once. It is a float64, so
// that no product of sizes overflows. Every term is an array, or several of one size, named next to it.
type footprint struct {
	n, D, d, s, m, q, features float64
	shards, threads, callers   float64 // concurrent calls of the loss
	sheet, point, residuals    float64 // c, Q and Theta; all blocks; of all rows
	entries, quadratic         bool    // the loss is not a function of the norm, or it is r'Mr
}

func newFootprint(x Data, loss framework.Loss, d, s, threads int) *footprint {
	f := &footprint{n: float64(x.N), D: float64(x.D), d: float64(d), s: float64(s)}
	f.m, f.q = f.d+f.s, f.d*(f.d+1)/2
	f.features = 1 + f.m + f.q
	f.shards, f.threads = float64(par.Shards(x.N)+1), float64(par.Threads(threads))
	f.sheet, f.residuals = f.D+f.m*f.D+f.q*f.s, f.n*f.D
	f.point = f.sheet + f.n*f.d
	f.callers = f.threads
	if l, ok := loss.(rowloss.HighLatency); ok {
		f.callers = max(f.threads, float64(l.Callers()))
	}
	_, radial := loss.(framework.Radial)
	f.entries = x.Missing || !radial
	_, f.quadratic = loss.(framework.Quadratic)
	return f
}

// reserve reserves memory for the given count of numbers, for a computation on rows.
func reserve(act string, x Data, numbers float64) (*memory.Reservation, error) {
	return reserveOr(act, x, numbers, "take fewer rows or columns")
}

// reserveOr is reserve with the remedy that the error names.
func reserveOr(act string, x Data, numbers float64, remedy string) (*memory.Reservation, error) {
	r, err := memory.Reserve(fmt.Sprintf("%s: %d rows of %d columns", act, x.N, x.D), wordBytes*numbers, remedy)
	if err != nil {
		return nil, fmt.Errorf("scqm: %w", err)
	}
	return r, nil
}

// problem counts the numbers that a Problem and its workers hold.
func (f *footprint) problem() float64 {
	return f.point + (f.shards+3)*f.sheet + f.callers*f.worker()
}

// worker counts the buffers of a goroutine, and the memory shared with the process that computes a plugin loss, whose
// size is a power of two.
func (f *footprint) worker() float64 {
	batch := min(max(nearest.BatchEntries/f.D, 4), f.n)
	buffers := batch*(4*f.D+2*f.m+f.q+2) + f.m*f.d
	if f.callers > f.threads {
		buffers += 2 * batch * (2*f.D + 1)
	}
	return buffers
}

// components counts the numbers that the computation of principal components holds.
func (f *footprint) components() float64 {
	return rows.ComponentsSize(int(f.n), int(f.D), int(f.m)+rotatedComponents)
}

// starts counts what a fit holds in addition to its solver: the first start with the heights and distances of its
// rows, the start of the current run and a copy, the best run and point and the last one, the gradient of the report,
// and the model before and after it is put in canonical form.
func (f *footprint) starts() float64 { return 10*f.point + (4+f.s)*f.n }

// solver counts the state of a solver, with the arrays that the problem allocates for it and the search for lower
// points along directions of negative curvature.
func (f *footprint) solver(solver framework.Solver) float64 {
	continuation, continued := solver.(solvers.Continuation)
	if continued {
		solver = continuation.Inner
	}
	points, systems, sums := 8.0, 0.0, f.sums()
	switch s := solver.(type) {
	case solvers.Newton:
		points, systems, sums = 4, 1, f.projections()
	case solvers.LBFGS: // pairs, and the line search
		points, sums = 9+2*float64(cmp.Or(s.Memory, 20)), sums+f.preconditioner()
	case solvers.TrustRegion:
		points, sums = 21, sums+f.preconditioner()
	case solvers.ConjugateGradient:
		points, sums = 10, sums+f.preconditioner()
	}
	outer := f.outer()
	least := outer
	if f.s == 0 { // see [arrowhead.OuterDim]
		least -= f.d * (f.d + 1) / 2
	}
	if least > arrowhead.MaxOuter || least*f.d*f.n > arrowhead.MaxEntries {
		return points*f.point + f.residuals + sums
	}
	shape := latent.ArrowheadShape{Outer: int(outer), Rows: int(f.n), Dim: int(f.d)}
	switch {
	case continued && continuation.Finishes(shape): // a Newton state, and four arrays of dual variables
		points, systems = points+8, 2
	case outer <= latent.MaxProbedOuter && shape.Probeable():
		points, systems = points+4, 1
	}
	return points*f.point + f.residuals + sums + systems*(f.secondOrder()+f.residuals)
}

// outer returns the number of outer coordinates.
func (f *footprint) outer() float64 { return f.D + f.D*f.m - f.m*(f.m+1)/2 + f.q*f.s }

// sums counts what sweeps and preconditioners hold: the sums of every shard, buffers of rows, sheets of the core and
// its history, blocks of the rows with their weights, and projections.
func (f *footprint) sums() float64 {
	size := max(f.q, min(f.q*f.s, objective.MaxCoupled))
	numbers := f.shards*(f.features*f.D+3*f.features*f.features+2*size*size) +
		2*f.threads*alternating.SweepRows*(2+f.features) +
		30*f.sheet + 16*f.features*f.features + f.n*(2+f.d+f.d*f.d) + f.projections()
	if f.quadratic { // rows in the frame of its matrix
		numbers += f.residuals + 6*f.D*f.D
	}
	return numbers
}

// preconditioner counts a weight of each entry, a system of each column, and their coupling.
func (f *footprint) preconditioner() float64 {
	numbers := f.residuals + 1.5*f.D*(1+f.m)*(2+f.m)
	shape := sheet.Shape{D: int(f.D), Latent: int(f.d), S: int(f.s), Q: int(f.q), M: int(f.m)}
	if precondition.Couples(shape) {
		numbers += float64(precondition.CouplingNumbers(shape, int(f.n), int(f.shards)))
	}
	return numbers
}

// projections counts the numbers that projections of rows hold.
func (f *footprint) projections() float64 {
	numbers := f.worker()/2 + 40*f.m*f.d + 40*f.d*f.d + 4*f.D + 8*f.q + 1<<14 + 2*f.s*f.d*f.d
	if f.entries { // residuals, slopes and quadratics of the entries, and lists of their roots
		numbers += f.D * (12 + f.d)
	}
	return f.threads * numbers
}

// secondOrder counts second derivatives, their Schur complement with its reflections and the rotations of its
// eigenvalues (about outer^2, three numbers each, in a slice that grows). It also counts what a problem holds after
// their assembly: the rows in the frame, the sums of every shard, and the buffers of goroutines.
func (f *footprint) secondOrder() float64 {
	outer := f.outer()
	system := 10*outer*outer + 40*outer + 2*outer*f.n*f.d + f.n*(2*f.d*f.d+6*f.d+3)
	sums := f.D*f.features + f.features*f.features + outer*outer
	perBatch := f.features + 8*f.D + 4*f.d + 8
	if f.entries {
		sums += f.D * f.features * (f.features + 1) / 2
		perBatch += f.D * f.D
	}
	workers := f.threads * (arrowhead.BatchRows*perBatch + 4*f.D*f.D + f.features*f.d + 2*outer)
	return system + f.shards*sums + workers + 8*f.D*f.D
}

// reserveRows reserves the problem of rows in other coordinates: its own numbers, the rows, the residuals and a
// frame, and the numbers of the coordinates.
func (f *footprint) reserveRows(x Data, coordinates float64) (*memory.Reservation, error) {
	return reserve("fit", x, f.problem()+2*f.residuals+2*f.D*f.m+coordinates)
}

// rotatedComponents is the number of leading principal components from which starts beyond the first are drawn, or m
// if m is larger.
const rotatedComponents = 6
