package arrowhead

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// The inner problem is the loss of every row over its tau, for a fixed sheet: n
// problems in R^d between two steps of the outer blocks. For radial
// losses [quadraticInner] solves them in R^m or in the frame, for all others
// [innerRows] at a loss of D entries for every trial.

// InnerStep replaces every tau_i by the better of its values in x and in other, and then takes one damped Newton
// step. For a radial loss this is a step of the orthogonal projection onto the sheet, a problem in R^m. Rows of
// weight zero do not move.
func (a *Hessian) InnerStep(x framework.Point, other []float64) (cost, passes float64, err error) {
	a.prepare(x)
	a.innerJob = innerShard{x[objective.BlockTau], other}
	if err := a.eachShard(&a.innerJob); err != nil {
		return 0, 0, err
	}
	for shard, s := range a.sums {
		cost += s.cost
		passes += a.innerPasses[shard]
	}
	return cost + a.o.Penalty(nil, x[objective.BlockTheta]), passes / float64(a.o.Data().N), nil
}

// innerShard takes the inner steps of some rows. tau and other cover all rows.
type innerShard struct{ tau, other []float64 }

func (job *innerShard) run(a *Hessian, w *worker, shard, lo, hi int) error {
	s := a.sums[shard]
	s.cost, a.innerPasses[shard] = 0, 0
	run := w.rows.run
	if a.structure == rowloss.StructureRadial {
		w.quadratic.prepare(a)
		run = w.quadratic.run
	}
	for from := lo; from < hi; from += w.batch {
		losses, evaluations, err := run(a, job, from, min(from+w.batch, hi))
		if err != nil {
			return err
		}
		a.innerPasses[shard] += evaluations
		for i, v := range losses {
			if a.o.Data().Weight(from+i) > 0 {
				s.cost += v
			}
		}
	}
	return nil
}
