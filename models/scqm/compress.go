package scqm

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/framework"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

const (
	// compressionSweeps is the number of sweeps over the data within which a
	// compression must pay for itself.
	compressionSweeps = 50
	// outsideSpan is how far from orthonormal the compressed Q of a start may
	// be.
	outsideSpan = 1e-10
)

// span holds the coordinates of n < D rows in the space they span: x_i = mean
// + B y_i with orthonormal B, D x n. A loss that is a function of |r| has the
// same values, and gradients of the same coordinates, for the rows y_i; and by
// convexity in the part of Q inside of the span there is an optimum with all of
// Q in it. A solver that starts in the span and is equivariant under rotations
// never leaves it.
type span struct {
	n, D int
	mean []float64
	bt   []float64 // n x D, the transpose of B
}

// minimize runs a solver on the problem, in the span of the rows where that
// loses nothing and pays. Observers then see points of the smaller problem.
func (p *Problem) minimize(ctx context.Context, start framework.Point, solver framework.Solver, o framework.Options) (*framework.Result, error) {
	if !p.compressible(solver) {
		return framework.Solve(ctx, p, start, solver, o)
	}
	held, err := reserveSpan(p.data, newFootprint(p.data, p.loss, p.sheet.d, p.sheet.s, p.threads))
	if err != nil {
		return nil, err
	}
	defer held.Release()
	f, rows := newSpan(p.data)
	small, err := NewProblem(p.ctx, rows, p.loss, p.sheet.d, p.sheet.s, p.threads)
	if err != nil {
		return nil, fmt.Errorf("in the span of the rows: %w", err)
	}
	small.Lambda, small.relocating = p.Lambda, p.relocating
	from := f.shrink(start, p.sheet.m)
	if !(small.blocks[BlockQ].Violation(from[BlockQ]) <= outsideSpan) {
		return framework.Solve(ctx, p, start, solver, o) // the rows span less than Q needs
	}
	run, failure := framework.Solve(ctx, small, from, solver, o)
	if run == nil {
		return nil, failure
	}
	run.Point = f.expand(run.Point, p.sheet.m)
	if run.Status != framework.Cancelled && failure == nil {
		run.Cost, err = p.Evaluate(nil, run.Point)
	}
	if failure == nil {
		failure = err
	}
	return run, failure
}

// compressible reports whether compression is lossless, and cheaper than the
// longer rows. It costs about 2 n^2 D operations.
func (p *Problem) compressible(solver framework.Solver) bool {
	n, D, f := p.data.N, p.data.D, p.sheet
	if _, radial := p.loss.(framework.Radial); !radial || n >= D || n <= f.m {
		return false
	}
	if _, fixed := p.loss.(framework.Dimensioned); fixed {
		return false
	}
	if s, ok := solver.(framework.Equivariant); !ok || !s.Equivariant() {
		return false
	}
	return n*D <= compressionSweeps*(D-n)*(1+f.m+f.d+f.q)
}

// newSpan factors the centred rows into a lower triangle, the rows in the new
// coordinates, and orthonormal rows B'.
func newSpan(x Data) (*span, Data) {
	n := x.N
	f := &span{n: n, D: x.D, mean: weightedMean(x), bt: make([]float64, n*x.D)}
	for i := range n {
		floats.SubTo(f.bt[i*x.D:(i+1)*x.D], x.Row(i), f.mean)
	}
	a := blas64.General{Rows: n, Cols: x.D, Stride: x.D, Data: f.bt}
	tau, size := make([]float64, n), []float64{0}
	lapack64.Gelqf(a, tau, size, -1)
	work := make([]float64, int(size[0]))
	lapack64.Gelqf(a, tau, work, len(work))
	rows := Data{N: n, D: n, X: make([]float64, n*n), Weights: x.Weights}
	for i := range n {
		copy(rows.Row(i), f.bt[i*x.D:i*x.D+i+1])
	}
	lapack64.Orglq(a, tau, size, -1)
	work = make([]float64, int(size[0]))
	lapack64.Orglq(a, tau, work, len(work))
	return f, rows
}

// shrink returns a point in the coordinates of the span.
func (f *span) shrink(x framework.Point, m int) framework.Point {
	y := framework.Point{make([]float64, f.n), make([]float64, f.n*m), x[BlockTheta], x[BlockTau]}
	c := make([]float64, f.D)
	floats.SubTo(c, x[BlockC], f.mean)
	for i := range f.n {
		b := f.bt[i*f.D : (i+1)*f.D]
		y[BlockC][i] = floats.Dot(b, c)
		for r, v := range b {
			floats.AddScaled(y[BlockQ][i*m:(i+1)*m], v, x[BlockQ][r*m:(r+1)*m])
		}
	}
	return y
}

// expand is the inverse of shrink.
func (f *span) expand(y framework.Point, m int) framework.Point {
	x := framework.Point{make([]float64, f.D), make([]float64, f.D*m), y[BlockTheta], y[BlockTau]}
	copy(x[BlockC], f.mean)
	for i := range f.n {
		b := f.bt[i*f.D : (i+1)*f.D]
		floats.AddScaled(x[BlockC], y[BlockC][i], b)
		for r, v := range b {
			floats.AddScaled(x[BlockQ][r*m:(r+1)*m], v, y[BlockQ][i*m:(i+1)*m])
		}
	}
	return x
}
