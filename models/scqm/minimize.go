package scqm

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/scqm/scqm/framework"
)

// minimizeAll runs the solver from every start and returns the run of lowest
// cost, the first of equals, with a note on the others. Its counts are those of
// all runs. The time limit holds for all together, other limits for each. A
// start that fails counts only where all do.
func (p *Problem) minimizeAll(ctx context.Context, s *starts, solver framework.Solver, o framework.Options) (best *framework.Result, note string, failure error) {
	limit, spent := o.TimeLimit, time.Duration(0)
	var counts framework.Counts
	lowest, highest, winner, done := math.Inf(1), math.Inf(-1), 0, 0
	for k := range s.count {
		if limit > 0 {
			if o.TimeLimit = limit - spent; o.TimeLimit <= 0 {
				break
			}
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
		spent += run.Elapsed
		counts.Evaluations += run.Counts.Evaluations
		counts.Passes += run.Counts.Passes
		highest = math.Max(highest, run.Cost)
		if best == nil || run.Cost < lowest {
			best, lowest, winner, failure = run, run.Cost, k, err
		}
		if run.Status == framework.Cancelled {
			break
		}
	}
	if best == nil || s.count == 1 {
		return best, "", failure
	}
	best.Counts.Evaluations, best.Counts.Passes = counts.Evaluations, counts.Passes
	return best, fmt.Sprintf("the best of %d starts, number %d; costs from %.6g to %.6g", done, winner+1, lowest, highest), failure
}
