package scqm

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// minimizeAll runs the solver from every start and returns the best run, see
// [finding.beats], with a note on the others. Its counts and its time are those of
// all runs. The time limit holds for all together, other limits for each. A
// start that fails counts only where all do.
func (p *Problem) minimizeAll(ctx context.Context, s *starts, solver framework.Solver, o framework.Options) (best *framework.Result, note string, failure error) {
	var counts framework.Counts
	var found finding
	var certificate objective.Certificate // of the best run
	lowest, highest, winner, done, folded := math.Inf(1), math.Inf(-1), 0, 0, 0
	for k := range s.count {
		if done > 0 && o.OutOfTime() {
			break
		}
		x, err := s.point(k)
		if err != nil {
			return best, "", err
		}
		run, err := p.minimize(ctx, x, solver, o)
		if run == nil {
			failure = err
			continue
		}
		done++
		counts.Evaluations += run.Counts.Evaluations
		counts.Passes += run.Counts.Passes
		lowest, highest = math.Min(lowest, run.Cost), math.Max(highest, run.Cost)
		next := p.finding(run)
		if next.folded() {
			folded++
		}
		if best == nil || next.beats(found) {
			best, found, winner, failure = run, next, k, err
			certificate = p.Certificate()
		}
		if run.Status == framework.Cancelled {
			break
		}
	}
	if best == nil || s.count == 1 {
		return best, "", failure
	}
	p.SetCertificate(certificate)
	best.Counts.Evaluations, best.Counts.Passes = counts.Evaluations, counts.Passes
	best.Elapsed = max(best.Elapsed, o.Elapsed())
	note = fmt.Sprintf("the best of %d starts, number %d; costs from %.6g to %.6g", done, winner+1, lowest, highest)
	if folded > 0 {
		note += fmt.Sprintf("; %d of them folded, with a curvature times extent above %d", folded, foldedCurvature)
	}
	return best, note, failure
}

// finding judges the point of a run.
func (p *Problem) finding(run *framework.Result) finding {
	m := p.model(run.Point)
	x, d := p.Data(), p.Shape().Latent
	return finding{run.Cost, m.CurvatureExtent(m.Tau, x.Weights), float64(max(1, min(x.D, x.N-1)-d))}
}
