package losses

import (
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
)

// Huber returns the radial Huber loss,
//
//	|r|^2/2                  where |r| <= delta
//	delta |r| - delta^2/2    elsewhere,
//
// for noise that is Gaussian in the middle and Laplace in the tails. Delta is in
// the unit of the residuals; it must be positive and finite. See
// [DefaultDelta] for a choice from data.
//
// Source: P. J. Huber, Robust estimation of a location parameter, Annals of
// Mathematical Statistics 35 (1964).
func Huber(delta float64) (framework.Loss, error) {
	if err := checkDelta("huber", delta); err != nil {
		return nil, err
	}
	return newHuber(delta), nil
}

func newHuber(delta float64) huber {
	return huber{radial{name: "huber", profile: func(t float64) (value, slope, excess float64) {
		if t <= delta {
			return t * t / 2, t, 0
		}
		return delta * (t - delta/2), delta, -delta / t
	}}, delta}
}

type huber struct {
	radial
	delta float64
}

// Params implements [rowloss.Parametric].
func (l huber) Params() map[string]float64 { return map[string]float64{"delta": l.delta} }

// checkDelta rejects a delta that is not positive and finite.
func checkDelta(name string, delta float64) error {
	if !(delta > 0) || math.IsInf(delta, 0) {
		return fmt.Errorf("losses: %s: delta = %v: want a positive number: %w", name, delta, framework.ErrInvalid)
	}
	return nil
}

// gaussianMedian is 1 over the median of |x| for a standard Gaussian x.
const gaussianMedian = 1.482602218505602

// widths are the deltas at which an estimate of location is 95 % efficient under Gaussian noise of variance 1.
var widths = map[string]float64{
	"huber": 1.345, "huber_entries": 1.345, "tukey": 4.685, "cauchy": 2.385, "welsch": 2.985, "geman_mcclure": 3.787,
}

// HasDelta reports whether the named loss has a delta that [DefaultDelta] chooses.
func HasDelta(name string) bool { return widths[name] > 0 }

// DefaultDelta chooses delta of the named loss from the norms of residual rows. Their robust scale is 1.4826
// median(norms), the median absolute deviation of the residuals from zero. Delta is the scale times 1.345 for huber
// and huber_entries, 4.685 for tukey, 2.385 for cauchy, 2.985 for welsch and 3.787 for geman_mcclure. With these
// factors an estimate of location is 95 % efficient under Gaussian noise. For rows of one entry with Gaussian noise
// the scale is the standard deviation. For longer rows delta of huber is about twice the typical norm, so that
// ordinary rows are in the quadratic part.
//
// Norms that are zero or not finite are left out, as an exact fit of some points gives no information on the noise of
// the others. If none remain, delta is 1.
func DefaultDelta(name string, norms []float64) float64 {
	var kept []float64
	for _, t := range norms {
		if t > 0 && !math.IsInf(t, 0) {
			kept = append(kept, t)
		}
	}
	if kept == nil {
		return 1
	}
	slices.Sort(kept)
	n := len(kept)
	median := kept[(n-1)/2]/2 + kept[n/2]/2
	return min(max(widths[name]*gaussianMedian*median, math.SmallestNonzeroFloat64), math.MaxFloat64)
}
