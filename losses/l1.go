package losses

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// L1 returns the loss sum_k |r_k|: the negative log-likelihood, up to scale, of
// independent Laplace noise. Smoothed over eps it is
// sum_k sqrt(r_k^2 + eps^2) - eps, which is smaller by at most eps per entry.
func L1() framework.Loss { return l1{concave{separable{"l1", absolute}}} }

type l1 struct{ concave }

// Smooth implements [framework.Smoother]. An eps up to 1e-100 counts as 0.
func (l l1) Smooth(eps float64) framework.Loss {
	if !(eps > tiny) {
		return l
	}
	return concave{separable{l.name, smoothAbsolute(eps)}}
}

// ProjectDual implements [rowloss.SupportFunction]: |r|_1 is the largest g'r over
// |g_k| <= 1.
func (l l1) ProjectDual(g []float64, _ int) {
	for k, v := range g {
		g[k] = max(-1, min(1, v))
	}
}

// absolute is the Phi of |r|.
func absolute(phi, d1, d2, r []float64) {
	if phi != nil {
		for k, v := range r {
			phi[k] = math.Abs(v)
		}
	}
	if d1 != nil {
		for k, v := range r {
			d1[k] = sign(v)
		}
	}
	clear(d2)
}

// sign returns -1, 0 or 1, and NaN for NaN.
func sign(v float64) float64 {
	if v == 0 || math.IsNaN(v) {
		return v
	}
	return math.Copysign(1, v)
}
