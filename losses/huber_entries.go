package losses

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// HuberEntries returns the Huber loss of every entry, with the same delta > 0 for all:
//
//	sum_k r_k^2/2                      where |r_k| <= delta,
//	      delta |r_k| - delta^2/2      else.
//
// It is least squares for entries of ordinary size and has the tails of [L1], for outliers in single entries. Unlike
// L1 it has no kink. delta is in the unit of the residuals.
//
// Source: P. J. Huber, Robust estimation of a location parameter, Annals of
// Mathematical Statistics 35 (1964).
func HuberEntries(delta float64) (framework.Loss, error) {
	if err := checkDelta("huber_entries", delta); err != nil {
		return nil, err
	}
	return newHuberEntries("huber_entries", delta), nil
}

// huberEntries is the loss. It has the name huber for data with missing entries.
type huberEntries struct {
	concave
	delta float64
}

func newHuberEntries(name string, delta float64) huberEntries {
	return huberEntries{concave{separable{name, huberTerms(delta)}}, delta}
}

// Params implements [rowloss.Parametric].
func (l huberEntries) Params() map[string]float64 { return map[string]float64{"delta": l.delta} }

// huberTerms returns the Phi of the Huber loss of an entry.
func huberTerms(delta float64) func(phi, d1, d2, r []float64) {
	return func(phi, d1, d2, r []float64) {
		for k, v := range r {
			size := math.Abs(v)
			inside := size <= delta
			if phi != nil {
				phi[k] = delta * (size - delta/2)
				if inside {
					phi[k] = v * v / 2
				}
			}
			if d2 != nil {
				d2[k] = 0
				if inside {
					d2[k] = 1
				}
			}
			if d1 != nil {
				d1[k] = math.Copysign(math.Min(size, delta), v)
			}
			if v != v {
				poison(phi, d1, d2, k)
			}
		}
	}
}

// poison writes NaN at k.
func poison(phi, d1, d2 []float64, k int) {
	for _, dst := range [][]float64{phi, d1, d2} {
		if dst != nil {
			dst[k] = math.NaN()
		}
	}
}
