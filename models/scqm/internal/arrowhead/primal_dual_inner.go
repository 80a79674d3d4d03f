package arrowhead

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Where fewer residuals of a row than tau has entries are near zero, the
// primal-dual system hardly determines tau: its second derivatives almost vanish, and
// the step leads beyond the next kink, however short the outer step is. On the line
// between the two points the loss is convex, up to the curvature of the sheet, and
// minimal at a kink.

// ShortenInner implements [latent.PrimalDual]. A row whose loss increases only moves to the minimum of the norm of
// the linearised residual on the line from its old position.
func (a *Hessian) ShortenInner(x framework.Point, from []float64) (cost, passes float64, err error) {
	a.prepare(x)
	if err := a.eachShard(&shortenShard{tau: x[objective.BlockTau], from: from}); err != nil {
		return 0, 0, err
	}
	for _, s := range a.sums {
		cost += s.cost
	}
	return cost + a.o.Penalty(nil, x[objective.BlockTheta]), 2, nil
}

// shortenShard shortens the steps of some rows.
type shortenShard struct {
	tau, from []float64 // n x d
}

func (job *shortenShard) run(a *Hessian, w *worker, shard, lo, hi int) error {
	s := a.sums[shard]
	s.cost = 0
	for i := lo; i < hi; i++ {
		weight := a.o.Data().Weight(i)
		if !(weight > 0) {
			continue
		}
		if err := a.o.Context().Err(); err != nil {
			return err
		}
		value, err := job.shorten(a, w.primalDual(a.F), i)
		if err != nil {
			return err
		}
		s.cost += weight * value
	}
	return nil
}

// shorten moves row i to the best of its old position, its trial point and the minimum between. It returns its loss.
func (job *shortenShard) shorten(a *Hessian, pd *primalDual, i int) (float64, error) {
	d := a.F.Latent
	to, from := job.tau[i*d:(i+1)*d], job.from[i*d:(i+1)*d]
	there, err := pd.valueAt(a, pd.there, to, i)
	if err != nil {
		return 0, err
	}
	here, err := pd.valueAt(a, pd.here, from, i)
	if err != nil || there <= here+float64(a.F.D)*a.o.SmoothingLength() {
		return there, err
	}
	f := pd.leastBetween(a.structure)
	for k, v := range from {
		pd.tau[k] = v + f*(to[k]-v)
	}
	between, err := pd.valueAt(a, pd.there, pd.tau, i)
	if err != nil {
		return 0, err
	}
	if between < here {
		copy(to, pd.tau)
		return between, nil
	}
	copy(to, from)
	return here, nil
}

// valueAt writes the residual of row i at tau and returns its loss.
func (pd *primalDual) valueAt(a *Hessian, r, tau []float64, i int) (float64, error) {
	a.F.Coordinates(pd.z, pd.phi, tau)
	a.F.Residual(r, pd.z, a.o.Data().Row(i))
	err := a.o.Loss().Evaluate(pd.value[:], nil, r, a.F.D)
	return pd.value[0], err
}

// leastBetween returns the f in [0, 1] that minimises the norm of here + f (there - here).
func (pd *primalDual) leastBetween(structure rowloss.Structure) float64 {
	step := pd.row
	floats.SubTo(step, pd.there, pd.here)
	if structure == rowloss.StructureRadial {
		if size := dense.Dot(step, step); size > 0 {
			return min(max(-dense.Dot(step, pd.here)/size, 0), 1)
		}
		return 0
	}
	sum, at := pd.kinks.Least(pd.here, step, pd.zeros, 0, 1)
	if !(sum < floats.Norm(pd.here, 1)) {
		return 0
	}
	return at
}
