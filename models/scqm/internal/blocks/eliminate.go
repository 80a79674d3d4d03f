package blocks

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// eliminationDecrease is the relative decrease of the loss of a row, by a Newton step, below which the row has
	// converged.
	eliminationDecrease = 1e-9
	// eliminationFactor multiplies the smoothing length in each step, from the scale down to the requested length.
	// creaseFactor replaces it if the gradient of the loss does not jump. eliminationLast is the last length, relative
	// to the scale, if none is requested.
	eliminationFactor, creaseFactor, eliminationLast = 0.1, 0.01, 1e-6
	// boundedBelow is the smoothing length, relative to the scale, below which tau starts at the global minimum of the
	// unsmoothed loss. This requires a loss for which that minimum can be searched.
	boundedBelow = 0.05
)

// eliminate moves tau from the Euclidean projections, which are exact for a radial loss, to local minima of the loss.
// It reduces the smoothing length from the scale on. The result is a function of the row, the sheet and two lengths.
func (o *blockObjective) eliminate(r *Request, loss framework.Loss) error {
	if rowloss.StructureOf(loss) == rowloss.StructureRadial {
		return nil
	}
	if _, kinks := loss.(framework.Smoother); !kinks || r.Scale == 0 {
		return o.descend(r, 0)
	}
	last := r.Eps
	if last == 0 {
		last = eliminationLast * r.Scale
	}
	factor := eliminationFactor
	if jumps, err := objective.Jumps(loss, o.Data().D, r.Scale); err == nil && !jumps {
		factor = creaseFactor
	}
	for eps := r.Scale; eps > last; eps *= factor {
		if err := o.descend(r, eps); err != nil {
			return err
		}
	}
	return o.descend(r, last)
}

// descend minimises the loss, smoothed over eps, from tau, which it overwrites.
func (o *blockObjective) descend(r *Request, eps float64) error {
	o.Smooth(eps)
	defer o.Smooth(0)
	o.newton.Decrease = eliminationDecrease
	if eps > 0 {
		o.newton.Decrease *= min(1, eps/r.Scale)
	}
	at := r.point(nil)
	_, err := o.newton.Minimize(o.tau, func(to nearest.RowResults, tau []float64, list []int) error {
		at[len(at)-1] = tau
		return o.EvaluateInto(to, at, len(at)-1, list)
	})
	return err
}
