package losses

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// Rescale implements [rowloss.Rescaler]: |u r|_1 = u |r|_1.
func (l l1) Rescale(unit float64) (framework.Loss, float64) { return l, unit }

// Rescale implements [rowloss.Rescaler]: |u r| = u |r|.
func (l l2) Rescale(unit float64) (framework.Loss, float64) { return l, unit }

// Rescale implements [rowloss.Rescaler]: |u r|^2 = u^2 |r|^2.
func (l squaredL2) Rescale(unit float64) (framework.Loss, float64) { return l, unit * unit }

// Rescale implements [rowloss.Rescaler]: |u r_k|^p = u^p |r_k|^p.
func (l lp) Rescale(unit float64) (framework.Loss, float64) { return l, math.Pow(unit, l.p) }

// Rescale implements [rowloss.Rescaler]: |u r_k|^2 = u^2 |r_k|^2.
func (l squareLp) Rescale(unit float64) (framework.Loss, float64) { return l, unit * unit }

// Rescale implements [rowloss.Rescaler]: |u r_k|^p = u^p |r_k|^p.
func (l kinkedLp) Rescale(unit float64) (framework.Loss, float64) { return l, math.Pow(unit, l.p) }

// Rescale implements [rowloss.Rescaler]: |u r_k| = u |r_k|.
func (l sumLp) Rescale(unit float64) (framework.Loss, float64) { return l, unit }

// Rescale implements [rowloss.Rescaler]: |u r_k|^p = u^p |r_k|^p.
func (l powerLp) Rescale(unit float64) (framework.Loss, float64) { return l, math.Pow(unit, l.p) }

// Rescale implements [rowloss.Rescaler]: (u r)'M(u r) = u^2 r'Mr.
func (l *mahalanobis) Rescale(unit float64) (framework.Loss, float64) { return l, unit * unit }

// Rescale implements [rowloss.Rescaler]: in units u, delta becomes delta/u and
// the loss is u^2 times as large. A delta that is then too large or too small
// for the numbers becomes the largest or smallest one.
func (l huber) Rescale(unit float64) (framework.Loss, float64) {
	return newHuber(deltaIn(unit, l.delta)), unit * unit
}

// Rescale implements [rowloss.Rescaler], as that of huber.
func (l huberEntries) Rescale(unit float64) (framework.Loss, float64) {
	return newHuberEntries(l.name, deltaIn(unit, l.delta)), unit * unit
}

func deltaIn(unit, delta float64) float64 {
	return min(max(delta/unit, math.SmallestNonzeroFloat64), math.MaxFloat64)
}
