package scqm

import (
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// fitRun is the run from one start, with the certificate of its final point.
type fitRun struct {
	run         *framework.Result
	found       finding
	certificate objective.Certificate
}

func (r fitRun) outcome() (*framework.Result, finding) { return r.run, r.found }

// minimizeAll runs the solver from the starts and returns the best run; see [bestStart].
func (p *Problem) minimizeAll(ctx context.Context, s *starts, solver framework.Solver, o framework.Options) (best *framework.Result, note string, failure error) {
	r, note, failure := bestStart(s.count, s.enough, o, func(k int, o framework.Options) (fitRun, error) {
		x, err := s.point(k)
		if err != nil {
			return fitRun{}, err
		}
		run, err := p.minimize(ctx, x, solver, o)
		if run == nil {
			return fitRun{}, err
		}
		r := fitRun{run: run, certificate: p.Certificate()}
		if s.count > 1 {
			r.found = p.finding(run)
		}
		return r, err
	})
	if r.run != nil && s.count > 1 {
		p.SetCertificate(r.certificate)
	}
	return r.run, note, failure
}

// minimize runs a solver on the problem. It works in the span of the rows if this is lossless and saves time;
// observers then get points in these coordinates.
func (p *Problem) minimize(ctx context.Context, start framework.Point, solver framework.Solver, o framework.Options) (*framework.Result, error) {
	p.turnToPrior(start)
	other, from, held, err := p.inSpanOfRows(start, solver)
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
	run.Point = expandPoint(p.span, run.Point, p.Shape().D, p.Shape().M)
	p.SetCertificate(expandCertificate(p.span, other.Certificate()))
	if run.Status != framework.Cancelled && failure == nil {
		run.Cost, err = p.Evaluate(nil, run.Point)
	}
	if failure == nil {
		failure = err
	}
	return run, failure
}

// inSpanOfRows returns the problem and its point in the span of the rows, with the memory reserved for it. It returns
// nil if the solver is not cheaper in the span.
func (p *Problem) inSpanOfRows(x framework.Point, solver framework.Solver) (*Problem, framework.Point, *memory.Reservation, error) {
	if !p.compressible(solver) {
		return nil, nil, nil, nil
	}
	foot := newFootprint(*p.Data(), p.Loss(), p.Shape().Latent, p.Shape().S, p.Threads())
	held, err := foot.reserveRows(*p.Data(), foot.n*foot.n+40*foot.D) // an orthonormal basis of it
	if err != nil {
		return nil, nil, held, err
	}
	small, at, err := p.restrict(x)
	return small, at, held, err
}
