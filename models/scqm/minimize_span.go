package scqm

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// compressionSweeps is the number of sweeps over the data within which a
	// compression must pay for itself.
	compressionSweeps = 50
	// outsideSpan is how far from orthonormal the compressed Q of a start may
	// be.
	outsideSpan = 1e-10
)

// coordinates are others for the rows, in which a fit costs less: those of [rows.Span] and
// [rows.Columns], and of [rows.Rotation] for whole fits.
type coordinates interface {
	Dims() (inside, outside int)
	ShrinkPoint(dst, c []float64)
	ShrinkFrame(dst, q []float64, m int)
	ExpandPoint(dst, c []float64)
	ExpandFrame(dst, q []float64, m int)
}

// minimize runs a solver on the problem, in the span of the rows where that
// loses nothing and pays, or without the columns that do not vary. Observers then see points of the
// problem in these coordinates.
func (p *Problem) minimize(ctx context.Context, start framework.Point, solver framework.Solver, o framework.Options) (*framework.Result, error) {
	other, from, f, held, err := p.inOtherCoordinates(start, solver)
	defer held.Release()
	if err != nil {
		return nil, err
	}
	if other == nil {
		return framework.Solve(ctx, p, start, solver, o)
	}
	run, failure := framework.Solve(ctx, other, from, solver, o)
	if run == nil {
		return nil, failure
	}
	run.Point = expandPoint(f, run.Point, p.Shape().M)
	p.SetCertificate(expandCertificate(f, other.Certificate()))
	if run.Status != framework.Cancelled && failure == nil {
		run.Cost, err = p.Evaluate(nil, run.Point)
	}
	if failure == nil {
		failure = err
	}
	return run, failure
}

// inOtherCoordinates returns the problem, and a point of it, in coordinates in which the solver
// costs less, and the memory that is held for them; nil where there are none.
func (p *Problem) inOtherCoordinates(x framework.Point, solver framework.Solver) (*Problem, framework.Point, coordinates, *memory.Reservation, error) {
	foot := newFootprint(*p.Data(), p.Loss(), p.Shape().Latent, p.Shape().S, p.Threads())
	switch {
	case p.compressible(solver):
		held, err := reserveSpan(*p.Data(), foot)
		if err != nil {
			return nil, nil, nil, held, err
		}
		small, at, f, err := p.restrict(x)
		return small, at, f, held, err
	case p.dropsColumns():
		held, err := reserveColumns(*p.Data(), foot)
		if err != nil {
			return nil, nil, nil, held, err
		}
		fewer, at, f, err := p.varying(x)
		return fewer, at, f, held, err
	}
	return nil, nil, nil, nil, nil
}

// restrict returns the problem, and a point of it, in the coordinates of the span
// of the rows, and the span; nil where that would lose something. A loss that is
// a function of |r| loses nothing where the point's Q is in the span.
func (p *Problem) restrict(x framework.Point) (*Problem, framework.Point, *rows.Span, error) {
	if !p.spanSuffices() {
		return nil, nil, nil, nil
	}
	s := p.Shape()
	f, inSpan := rows.NewSpan(*p.Data())
	small, err := NewProblem(p.Context(), inSpan, p.Loss(), s.Latent, s.S, p.Threads())
	if err != nil {
		return nil, nil, nil, fmt.Errorf("in the span of the rows: %w", err)
	}
	small.Lambda = p.Lambda
	at := shrinkPoint(f, x, s.M)
	if !(small.Blocks()[BlockQ].Violation(at[BlockQ]) <= outsideSpan) {
		return nil, nil, nil, nil // the rows span less than Q needs
	}
	return small, at, f, nil
}

// spanSuffices reports whether the rows span less than R^D, and the loss is the
// same function of |r| there.
func (p *Problem) spanSuffices() bool {
	_, radial := p.Loss().(framework.Radial)
	_, fixed := p.Loss().(framework.Dimensioned)
	n := p.Data().N
	return radial && !fixed && n < p.Data().D && n > p.Shape().M
}

// compressible reports whether a solver stays in the span of the rows, and
// whether coordinates in it, which cost about 2 n^2 D operations, are cheaper
// than the longer rows.
func (p *Problem) compressible(solver framework.Solver) bool {
	n, D, f := p.Data().N, p.Data().D, p.Shape()
	if s, ok := solver.(framework.Equivariant); !p.spanSuffices() || !ok || !s.Equivariant() {
		return false
	}
	return n*D <= compressionSweeps*(D-n)*(1+f.M+f.Latent+f.Q)
}

// shrinkPoint returns a point in the coordinates of the span.
func shrinkPoint(f coordinates, x framework.Point, m int) framework.Point {
	n, _ := f.Dims()
	y := framework.Point{make([]float64, n), make([]float64, n*m), x[BlockTheta], x[BlockTau]}
	f.ShrinkPoint(y[BlockC], x[BlockC])
	f.ShrinkFrame(y[BlockQ], x[BlockQ], m)
	return y
}

// expandPoint is the inverse of shrinkPoint.
func expandPoint(f coordinates, y framework.Point, m int) framework.Point {
	_, D := f.Dims()
	x := framework.Point{make([]float64, D), make([]float64, D*m), y[BlockTheta], y[BlockTau]}
	f.ExpandPoint(x[BlockC], y[BlockC])
	f.ExpandFrame(x[BlockQ], y[BlockQ], m)
	return x
}

// expandCertificate is the same for the gradients of the rows.
func expandCertificate(f coordinates, c objective.Certificate) objective.Certificate {
	n, D := f.Dims()
	rows := len(c.Multipliers) / n
	full := make([]float64, rows*D)
	for i := range rows {
		f.ExpandFrame(full[i*D:(i+1)*D], c.Multipliers[i*n:(i+1)*n], 1)
	}
	return objective.Certificate{Eps: c.Eps, Multipliers: full}
}
