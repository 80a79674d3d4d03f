package latent

import "github.com/scqm/scqm/framework"

// Explorer lets framework.Solve look for lower costs than descent finds, for a problem that embeds it. It relocates
// rows of a [Reassigner], and walks along directions of low curvature of an [ArrowheadHessian]. It also drops the
// multipliers of an earlier run of a [PrimalDual]. The zero value is ready to use.
type Explorer struct{ prober *prober }

// Begin drops the multipliers of an earlier run.
func (x *Explorer) Begin(e *framework.Evaluator) { SetMultipliers(e, nil) }

// Explores reports whether there are rows to relocate or directions to walk along.
func (x *Explorer) Explores(e *framework.Evaluator) bool {
	if _, ok := framework.As[Reassigner](e.Problem()); ok {
		return true
	}
	shape, ok := ShapeOf(e)
	return ok && shape.Probeable()
}

// Relocate calls [Reassign].
func (x *Explorer) Relocate(e *framework.Evaluator, at framework.Point) (bool, error) {
	return Reassign(e, at)
}

// Probe moves a point of small gradient to the lowest cost that it finds along the directions of lowest curvature. It
// returns the decrease of the cost, 0 if it finds none.
func (x *Explorer) Probe(e *framework.Evaluator, at framework.Point) (float64, error) {
	shape, ok := ShapeOf(e)
	if !ok || !shape.Probeable() {
		return 0, nil
	}
	if x.prober == nil || x.prober.ArrowheadShape != shape {
		x.prober = newProber(shape, e.Blocks())
	}
	gain, err := x.prober.search(e, at)
	if err != nil || !(gain > 0) {
		return 0, err
	}
	at.CopyFrom(x.prober.lowest)
	return gain, nil
}
