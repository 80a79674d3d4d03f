package arrowhead

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

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
	return w.newton.loss(a, x[objective.BlockTau], w.batch)
}

// wholeFrame reports whether inner steps need rows in the whole frame.
func (a *Hessian) wholeFrame() bool {
	return a.structure == framework.StructureQuadratic || a.structure == framework.StructureRadial && a.F.M == a.F.D
}

// innerShard takes the inner steps of some rows.
type innerShard struct{ tau, other []float64 }

func (job *innerShard) run(a *Hessian, w *worker, shard, lo, hi int) error {
	s := a.sums[shard]
	s.cost, a.innerPasses[shard] = 0, 0
	for from := lo; from < hi; from += w.batch {
		to := min(from+w.batch, hi)
		if a.structure == framework.StructureRadial || a.structure == framework.StructureQuadratic {
			a.innerPasses[shard] += job.quadratic(a, w, from, to)
		} else {
			passes, err := w.newton.run(a, job, from, to)
			if err != nil {
				return fmt.Errorf("scqm: loss %s: %w", a.o.Loss().Name(), err)
			}
			copy(w.value, w.newton.current.value[:to-from])
			a.innerPasses[shard] += passes
		}
		for i := from; i < to; i++ {
			if weight := a.o.Data().Weight(i); weight > 0 {
				s.cost += weight * w.value[i-from]
			}
		}
	}
	return nil
}

// quadratic steps rows whose loss is a quadratic form of the residual or a function
// of its norm, leaves their losses in w.value, and returns the row evaluations
// done.
func (job *innerShard) quadratic(a *Hessian, w *worker, from, to int) float64 {
	n := to - from
	if a.isSurface3D() {
		job.quadraticSurface(a, w, from, to)
	} else {
		job.quadraticInSpan(a, w, from, to)
	}
	if a.structure == framework.StructureQuadratic {
		copy(w.value[:n], w.u)
		return float64(n) * float64(a.F.D) / float64(a.F.M)
	}
	a.o.Loss().(framework.Radial).Rho(w.value[:n], nil, nil, w.u[:n])
	if a.wholeFrame() {
		return float64(n)
	}
	return 2 * float64(n)
}

// quadraticInSpan steps rows in the span of Q and leaves their forms in w.u.
func (job *innerShard) quadraticInSpan(a *Hessian, w *worker, from, to int) {
	k, d := w.quadratic, a.F.Latent
	k.loadMetric(a)
	data := a.o.Data()
	for i := from; i < to; i++ {
		tau, other := job.tau[i*d:(i+1)*d], job.other[i*d:(i+1)*d]
		rest := k.load(a, data.Row(i), i)
		value := k.Value(tau)
		if data.Weight(i) > 0 {
			if v := k.Value(other); v < value {
				value = v
				copy(tau, other)
			} else {
				k.Value(tau)
			}
			value, _ = k.Step(tau, value, nearest.InnerTries)
		}
		w.u[i-from] = value + rest
	}
}
