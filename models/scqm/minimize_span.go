package scqm

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/framework"
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

// minimize runs a solver on the problem, in the span of the rows where that
// loses nothing and pays. Observers then see points of the smaller problem.
func (p *Problem) minimize(ctx context.Context, start framework.Point, solver framework.Solver, o framework.Options) (*framework.Result, error) {
	if !p.compressible(solver) {
		return framework.Solve(ctx, p, start, solver, o)
	}
	held, err := reserveSpan(*p.Data(), newFootprint(*p.Data(), p.Loss(), p.Shape().Latent, p.Shape().S, p.Threads()))
	if err != nil {
		return nil, err
	}
	defer held.Release()
	small, from, f, err := p.restrict(start)
	if err != nil {
		return nil, err
	}
	if small == nil {
		return framework.Solve(ctx, p, start, solver, o)
	}
	run, failure := framework.Solve(ctx, small, from, solver, o)
	if run == nil {
		return nil, failure
	}
	run.Point = expandPoint(f, run.Point, p.Shape().M)
	p.SetCertificate(expandCertificate(f, small.Certificate()))
	if run.Status != framework.Cancelled && failure == nil {
		run.Cost, err = p.Evaluate(nil, run.Point)
	}
	if failure == nil {
		failure = err
	}
	return run, failure
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
func shrinkPoint(f *rows.Span, x framework.Point, m int) framework.Point {
	y := framework.Point{make([]float64, f.N), make([]float64, f.N*m), x[BlockTheta], x[BlockTau]}
	f.ShrinkPoint(y[BlockC], x[BlockC])
	f.ShrinkFrame(y[BlockQ], x[BlockQ], m)
	return y
}

// expandPoint is the inverse of shrinkPoint.
func expandPoint(f *rows.Span, y framework.Point, m int) framework.Point {
	x := framework.Point{make([]float64, f.D), make([]float64, f.D*m), y[BlockTheta], y[BlockTau]}
	f.ExpandPoint(x[BlockC], y[BlockC])
	f.ExpandFrame(x[BlockQ], y[BlockQ], m)
	return x
}

// expandCertificate is the same for the gradients of the rows.
func expandCertificate(f *rows.Span, c objective.Certificate) objective.Certificate {
	rows := len(c.Multipliers) / f.N
	full := make([]float64, rows*f.D)
	for i := range rows {
		f.ExpandFrame(full[i*f.D:(i+1)*f.D], c.Multipliers[i*f.N:(i+1)*f.N], 1)
	}
	return objective.Certificate{Eps: c.Eps, Multipliers: full}
}
