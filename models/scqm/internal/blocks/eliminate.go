package blocks

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// eliminationSteps bounds the Newton steps of a row at one length of rounding, and
	// eliminationDecrease is the decrease of its loss, relative to it, after which the next
	// one would be next to nothing.
	eliminationSteps, eliminationDecrease = 12, 1e-9
	// eliminationTries bounds the lengths tried in a step.
	eliminationTries = 20
	// eliminationFactor is what the length of rounding is multiplied by from the scale down to
	// the one asked for, creaseFactor the same where the gradient of the loss does not jump, and
	// eliminationLast the last length, relative to the scale, where none is asked for.
	eliminationFactor, creaseFactor, eliminationLast = 0.1, 0.01, 1e-6
	// boundedBelow is the length of rounding, relative to the scale, below which tau
	// begins at the nearest point under the loss itself where that is searched for.
	boundedBelow = 0.05
)

func newRounding(n, d int) *nearest.General {
	g := nearest.NewGeneral(n, d)
	g.Steps, g.Tries, g.Decrease = eliminationSteps, eliminationTries, eliminationDecrease
	return g
}

// eliminate moves tau from the nearest points in the Euclidean norm, which are those of
// a radial loss, to the minima of the loss nearby. Kinks are rounded less and less, from
// the scale on: the result is a function of the row, the sheet and two lengths.
func (o *blockObjective) eliminate(r *Request, loss framework.Loss) error {
	if _, quadratic := loss.(framework.Quadratic); quadratic || framework.StructureOf(loss) == framework.StructureRadial {
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

// descend minimises the loss rounded over eps from tau, in place.
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
