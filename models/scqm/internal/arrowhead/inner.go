package arrowhead

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// The inner problem is the loss of every row over its tau, for a fixed sheet: n
// problems in R^d between two steps of the outer blocks. For radial and quadratic
// losses [quadraticInner] solves them in R^m or in the frame, for all others
// [innerNewton] at a loss of D entries and its derivatives for every trial.

// innerSolver takes inner steps of some rows, with memory of its own.
type innerSolver interface {
	// prepare takes sheet, loss and data from the Hessian.
	prepare(a *Hessian)
	// run moves rows of positive weight to the better of tau and other, and steps from
	// there. It writes the losses of all and returns the row evaluations done, a
	// derivative counting as one.
	run(losses []float64, rows innerRows) (evaluations float64, err error)
}

// innerRows are a range of rows with their latent coordinates and alternative ones. tau and other cover all
// rows.
type innerRows struct {
	tau, other []float64 // N x d
	from, to   int
}

// InnerStep gives every tau_i the better one of its value in x and in other,
// and then one damped Newton step. For a radial loss that is a step of the
// orthogonal projection on the sheet, a problem in R^m. Rows of weight zero stay
// where they are.
func (a *Hessian) InnerStep(x framework.Point, other []float64) (cost, passes float64, err error) {
	a.prepare(x)
	a.coords.kept = false
	if a.wholeFrame() {
		a.Frame.Complete()
		a.prepareLoss()
	}
	a.innerJob = innerShard{x[objective.BlockTau], other}
	if err := a.eachShard(&a.innerJob); err != nil {
		return 0, 0, err
	}
	if a.wholeFrame() {
		a.coords.keep(a.F, a.o.Version())
	}
	for shard, s := range a.sums {
		cost += s.cost
		passes += a.innerPasses[shard]
	}
	return cost + a.o.Penalty(nil, x[objective.BlockTheta]), passes / float64(a.o.Data().N), nil
}

// FlatCost is the cost of x without penalty.
func (a *Hessian) FlatCost(x framework.Point) (float64, error) {
	a.prepare(x)
	w := a.worker(0)
	w.newton.prepare(a)
	return w.newton.cost(x[objective.BlockTau], w.batch)
}

// wholeFrame reports whether inner steps need the residuals in all D frame coordinates.
func (a *Hessian) wholeFrame() bool {
	return a.structure == rowloss.StructureQuadratic || a.structure == rowloss.StructureRadial && a.F.M == a.F.D
}

// inner chooses the inner solver for the loss.
func (a *Hessian) inner(w *worker) innerSolver {
	if a.structure == rowloss.StructureRadial || a.structure == rowloss.StructureQuadratic {
		return w.quadratic
	}
	return w.newton
}

// innerShard takes the inner steps of some rows.
type innerShard struct{ tau, other []float64 }

func (job *innerShard) run(a *Hessian, w *worker, shard, lo, hi int) error {
	s, data, inner := a.sums[shard], a.o.Data(), a.inner(w)
	s.cost, a.innerPasses[shard] = 0, 0
	inner.prepare(a)
	for from := lo; from < hi; from += w.batch {
		to := min(from+w.batch, hi)
		evaluations, err := inner.run(w.value[:to-from], innerRows{job.tau, job.other, from, to})
		if err != nil {
			return fmt.Errorf("scqm: loss %s: %w", a.o.Loss().Name(), err)
		}
		a.innerPasses[shard] += evaluations
		for i := from; i < to; i++ {
			if weight := data.Weight(i); weight > 0 {
				s.cost += weight * w.value[i-from]
			}
		}
	}
	return nil
}
