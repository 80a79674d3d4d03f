package losses

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// Quantile returns the loss of quantile regression: of residuals r = fit - data
//
//	sum_k  (1-p) r_k   where r_k >= 0,
//	       -p r_k      elsewhere,
//
// 0 < p < 1. About the fraction p of the data lies below the fit; with p = 1/2 it is half of [L1]. Smoothed over eps
// it is sum_k sqrt(r_k^2 + eps^2)/2 + (1/2 - p) r_k - eps sqrt(p (1-p)), which has the minimum 0 and differs by at
// most eps/2 per entry. Projections of single rows are local minima, without a certificate of global optimality. It
// has no weights, because no quadratic upper bound without a linear term touches it.
//
// Source: R. Koenker, G. Bassett, Regression quantiles, Econometrica 46 (1978).
func Quantile(p float64) (framework.Loss, error) {
	if !(p > 0 && p < 1) {
		return nil, fmt.Errorf("losses: quantile: p = %v: want a number between 0 and 1: %w", p, framework.ErrInvalid)
	}
	return quantile{newTilted(p, 0)}, nil
}

type quantile struct{ tilted }

// tilted is |r|/2 + (1/2 - p) r by entry, with |r| rounded over eps.
type tilted struct {
	separable
	p float64
}

func newTilted(p, eps float64) tilted {
	half := absolute
	if eps > 0 {
		half = smoothAbsolute(eps)
	}
	return tilted{separable{"quantile", func(phi, d1, d2, r []float64) {
		half(phi, nil, d2, r)
		for k, v := range phi {
			if phi[k] = v/2 + (0.5-p)*r[k] + eps*(0.5-math.Sqrt(p*(1-p))); phi[k] < 0 {
				phi[k] = 0
			}
		}
		for k := range d2 {
			d2[k] /= 2
		}
		half(nil, d1, nil, r)
		for k, slope := range d1 {
			if d1[k] = slope/2 + 0.5 - p; slope == 0 && eps == 0 {
				d1[k] = 0
			}
		}
	}}, p}
}

// Params implements [rowloss.Parametric].
func (l quantile) Params() map[string]float64 { return map[string]float64{"p": l.p} }

// Smooth implements [framework.Smoother]. An eps up to 1e-100 counts as 0.
func (l quantile) Smooth(eps float64) framework.Loss {
	if !(eps > tiny) {
		return l
	}
	return newTilted(l.p, eps)
}

// ProjectDual implements [rowloss.SupportFunction]: the loss of an entry is the largest g r over -p <= g <= 1-p.
func (l quantile) ProjectDual(g []float64, _ int) {
	for k, v := range g {
		g[k] = max(-l.p, min(1-l.p, v))
	}
}

// Rescale implements [framework.Rescaler].
func (l quantile) Rescale(unit float64) (framework.Loss, float64) { return l, unit }
