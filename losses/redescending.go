package losses

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// curve is the shape of a redescending loss l(t), t = |r|, as a function of z = t^2/delta^2 > 0:
//
//	value    l(t) / delta^2
//	weight   w(z) = l'(t)/t, 1 at z = 0
//	bend     2 z w'(z) = l''(t) - l'(t)/t, the excess of the [profile]
type curve func(z float64) (value, weight, bend float64)

// curves are those of the losses that redescend.
var curves = map[string]curve{
	"tukey": func(z float64) (value, weight, bend float64) {
		if z >= 1 {
			return 1. / 6, 0, 0
		}
		return z * (3 - z*(3-z)) / 6, (1 - z) * (1 - z), -4 * z * (1 - z)
	},
	"cauchy": func(z float64) (value, weight, bend float64) {
		return math.Log1p(z) / 2, 1 / (1 + z), -2 * z / (1 + z) / (1 + z)
	},
	"welsch": func(z float64) (value, weight, bend float64) {
		w := math.Exp(-z)
		return -math.Expm1(-z) / 2, w, -2 * z * w
	},
	"geman_mcclure": func(z float64) (value, weight, bend float64) {
		w := 1 / (1 + z)
		return z * w / 2, w * w, -4 * z * w * w * w
	},
}

// Tukey returns Tukey's biweight of rows: with z = |r|^2/delta^2
//
//	delta^2/6 (1 - (1 - z)^3)   where |r| <= delta,
//	delta^2/6                   elsewhere.
//
// Like [Cauchy], [Welsch] and [GemanMcClure] it is |r|^2/2 near 0, a concave function of |r|^2, and not convex. The
// weight of a row decreases with its distance, here to 0 from delta on. Delta is in the unit of the residuals; see
// [DefaultDelta] for a choice from data. Delta determines which rows are outliers: if delta reaches another sheet,
// the rows of that sheet count as inliers.
//
// Source: A. E. Beaton, J. W. Tukey, The fitting of power series, meaning polynomials, illustrated on
// band-spectroscopic data, Technometrics 16 (1974).
func Tukey(delta float64) (framework.Loss, error) { return makeRedescending("tukey", delta) }

// Cauchy returns the loss delta^2/2 log(1 + |r|^2/delta^2) of rows, see [Tukey]. Of the four losses it has the
// slowest decay of weights.
//
// Source: P. W. Holland, R. E. Welsch, Robust regression using iteratively reweighted least-squares,
// Communications in Statistics 6 (1977).
func Cauchy(delta float64) (framework.Loss, error) { return makeRedescending("cauchy", delta) }

// Welsch returns the loss delta^2/2 (1 - exp(-|r|^2/delta^2)) of rows, see [Tukey].
//
// Source: that of [Cauchy].
func Welsch(delta float64) (framework.Loss, error) { return makeRedescending("welsch", delta) }

// GemanMcClure returns the loss |r|^2/2 / (1 + |r|^2/delta^2) of rows, see [Tukey].
//
// Source: S. Geman, D. E. McClure, Statistical methods for tomographic image reconstruction, Bulletin of the
// International Statistical Institute 52 (1987).
func GemanMcClure(delta float64) (framework.Loss, error) {
	return makeRedescending("geman_mcclure", delta)
}

// redescending is a loss with one of the curves.
type redescending struct {
	radial
	delta float64
}

func makeRedescending(name string, delta float64) (framework.Loss, error) {
	if err := checkDelta(name, delta); err != nil {
		return nil, err
	}
	return newRedescending(name, delta), nil
}

func newRedescending(name string, delta float64) redescending {
	curve := curves[name]
	return redescending{radial{name: name, profile: func(t float64) (value, slope, excess float64) {
		z := min(t/delta*(t/delta), math.MaxFloat64)
		switch {
		case !(t <= math.MaxFloat64): // a bounded loss would hide it
			return math.NaN(), math.NaN(), math.NaN()
		case z < tiny:
			return t * t / 2, t, 0
		}
		value, weight, bend := curve(z)
		return delta * (delta * value), weight * t, bend
	}}, delta}
}

// Params implements [rowloss.Parametric].
func (l redescending) Params() map[string]float64 { return map[string]float64{"delta": l.delta} }

// Rescale implements [framework.Rescaler], like that of huber.
func (l redescending) Rescale(unit float64) (framework.Loss, float64) {
	return newRedescending(l.name, deltaIn(unit, l.delta)), unit * unit
}

// breakdown is a delta relative to that of [DefaultDelta], at which up to half of the rows can be outliers: 1.547 /
// 4.685 for tukey.
const breakdown = 1.547 / 4.685

// Core returns the loss with a delta at which up to half of the rows can be outliers. l must be one of [Tukey],
// [Cauchy], [Welsch] and [GemanMcClure] with the delta of [DefaultDelta].
func Core(l framework.Loss) (core framework.Loss, ok bool) {
	r, ok := l.(redescending)
	if !ok {
		return nil, false
	}
	return newRedescending(r.name, breakdown*r.delta), true
}
