package arrowhead

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// settleHalvings bounds how often the Newton step of a row is halved.
const settleHalvings = 4

// InnerStep gives every tau_i the better one of its value in x and in other,
// and then one damped Newton step. For a radial loss that is a step of the
// orthogonal projection on the sheet, a problem in R^m. Rows of weight zero stay
// where they are.
func (a *Hessian) InnerStep(x framework.Point, other []float64) (cost, passes float64, err error) {
	a.prepare(x)
	a.seen.kept = false
	if a.seesAll() {
		a.Frame.Complete()
		a.turnLoss()
	}
	a.settlement = settleShard{x[objective.BlockTau], other}
	if err := a.eachShard(&a.settlement); err != nil {
		return 0, 0, err
	}
	if a.seesAll() {
		a.seen.keep(a.F, a.o.Version())
	}
	for shard, s := range a.sums {
		cost += s.cost
		passes += a.passes[shard]
	}
	return cost + a.o.Penalty(nil, x[objective.BlockTheta]), passes / float64(a.o.Data().N), nil
}

// FlatCost is the cost of x without penalty.
func (a *Hessian) FlatCost(x framework.Point) (float64, error) {
	a.prepare(x)
	w := a.worker(0)
	return w.settler.loss(a, x[objective.BlockTau], w.batch)
}

// seesAll reports whether settling looks at rows in the whole frame.
func (a *Hessian) seesAll() bool {
	return a.structure == framework.StructureQuadratic || a.structure == framework.StructureRadial && a.F.M == a.F.D
}

// settleShard settles some rows.
type settleShard struct{ tau, other []float64 }

func (job *settleShard) run(a *Hessian, w *arrowWorker, shard, lo, hi int) error {
	s := a.sums[shard]
	s.cost, a.passes[shard] = 0, 0
	for from := lo; from < hi; from += w.batch {
		to := min(from+w.batch, hi)
		if a.structure == framework.StructureRadial || a.structure == framework.StructureQuadratic {
			a.passes[shard] += job.walk(a, w, from, to)
		} else {
			passes, err := w.settler.settle(a, job, from, to)
			if err != nil {
				return fmt.Errorf("scqm: loss %s: %w", a.o.Loss().Name(), err)
			}
			copy(w.value, w.settler.current.value[:to-from])
			a.passes[shard] += passes
		}
		for i := from; i < to; i++ {
			if weight := a.o.Data().Weight(i); weight > 0 {
				s.cost += weight * w.value[i-from]
			}
		}
	}
	return nil
}

// walk settles rows whose loss is a quadratic form of the residual or a function
// of its norm, leaves their losses in w.value, and returns the row evaluations
// done.
func (job *settleShard) walk(a *Hessian, w *arrowWorker, from, to int) float64 {
	n := to - from
	if a.isSurface() {
		job.settleSurface(a, w, from, to)
	} else {
		job.walkInSpan(a, w, from, to)
	}
	if a.structure == framework.StructureQuadratic {
		copy(w.value[:n], w.u)
		return float64(n) * float64(a.F.D) / float64(a.F.M)
	}
	a.o.Loss().(framework.Radial).Rho(w.value[:n], nil, nil, w.u[:n])
	if a.seesAll() {
		return float64(n)
	}
	return 2 * float64(n)
}

// walkInSpan settles rows in the span of Q and leaves their forms in w.u.
func (job *settleShard) walkInSpan(a *Hessian, w *arrowWorker, from, to int) {
	k, d := w.walker, a.F.Latent
	k.begin(a)
	for i := from; i < to; i++ {
		tau, other := job.tau[i*d:(i+1)*d], job.other[i*d:(i+1)*d]
		rest := k.look(a, a.o.Data().Row(i), i)
		value := k.value(tau)
		if a.o.Data().Weight(i) > 0 {
			if v := k.value(other); v < value {
				value = v
				copy(tau, other)
			} else {
				k.value(tau)
			}
			value = k.step(tau, value)
		}
		w.u[i-from] = value + rest
	}
}
