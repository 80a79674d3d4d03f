package scqm

import (
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// fitRun is the run from one start, with the certificate of its point.
type fitRun struct {
	run         *framework.Result
	found       finding
	certificate objective.Certificate
}

func (r fitRun) outcome() (*framework.Result, finding) { return r.run, r.found }

// minimizeAll runs the solver from the starts and returns the best run; see [bestStart].
func (p *Problem) minimizeAll(ctx context.Context, s *starts, solver framework.Solver, o framework.Options) (best *framework.Result, note string, failure error) {
	r, note, failure := bestStart(s.count, o, func(k int, o framework.Options) (fitRun, error) {
		x, err := s.point(k)
		if err != nil {
			return fitRun{}, err
		}
		p.bentAgain = false
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

// finding judges the point of a run.
func (p *Problem) finding(run *framework.Result) finding {
	m := p.model(run.Point)
	x, d := p.Data(), p.Shape().Latent
	return finding{run.Cost, m.CurvatureExtent(m.Tau, x.Weights), float64(max(1, min(x.D, x.N-1)-d))}
}
