package losses

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// Lp returns the loss sum_k |r_k|^p, the negative log-likelihood, up to scale,
// of independent generalised Gaussian noise. The power p must be finite and at
// least 1, else the loss is not convex. It is fastest where p is a multiple of
// 1/4.
//
// For p <= 2 the loss offers weights; for p < 2 it can be smoothed over eps,
// to sum_k (r_k^2 + eps^2)^(p/2) - eps^p, which is smaller by at most eps^p
// per entry.
func Lp(p float64) (framework.Loss, error) {
	if !(p >= 1) || math.IsInf(p, 0) {
		return nil, fmt.Errorf("losses: lp: p = %v: want p >= 1: %w", p, framework.ErrInvalid)
	}
	l := lp{separable{"lp", absolute}, p}
	if p > 1 {
		l.terms = newPowers(p).phi
	}
	switch {
	case p == 1:
		return sumLp{kinkedLp{concaveLp{concave{l.separable}, p}}}, nil
	case p < 2:
		return powerLp{kinkedLp{concaveLp{concave{l.separable}, p}}}, nil
	case p == 2:
		return squareLp{concaveLp{concave{l.separable}, p}}, nil
	}
	return l, nil
}

// lp is the loss for p > 2, which has no quadratic upper bound.
type lp struct {
	separable
	p float64
}

// Params implements [rowloss.Parametric].
func (l lp) Params() map[string]float64 { return map[string]float64{"p": l.p} }

// concaveLp is the loss for p <= 2, smoothed or not.
type concaveLp struct {
	concave
	p float64
}

// Params implements [rowloss.Parametric].
func (l concaveLp) Params() map[string]float64 { return map[string]float64{"p": l.p} }

// squareLp is the loss for p = 2.
type squareLp struct{ concaveLp }

// kinkedLp is the loss for p < 2, whose second derivative is infinite at 0; for
// p = 1 the first one jumps.
type kinkedLp struct{ concaveLp }

// Smooth implements [framework.Smoother]. An eps up to 1e-100 counts as 0.
func (l kinkedLp) Smooth(eps float64) framework.Loss {
	if !(eps > tiny) {
		return l
	}
	smooth := l.concaveLp
	if l.p == 1 {
		smooth.terms = smoothAbsolute(eps)
	} else {
		smooth.terms = newSmoothPowers(l.p, eps).phi
	}
	return smooth
}

// sumLp is the loss for p = 1, that of [L1].
type sumLp struct{ kinkedLp }

// Smooth implements [framework.Smoother].
func (l sumLp) Smooth(eps float64) framework.Loss {
	if !(eps > tiny) {
		return l
	}
	return l.kinkedLp.Smooth(eps)
}

// ProjectDual implements [rowloss.SupportFunction].
func (l sumLp) ProjectDual(g []float64, dim int) { l1{}.ProjectDual(g, dim) }

// powerLp is the loss for 1 < p < 2.
type powerLp struct{ kinkedLp }

// Power implements [rowloss.PowerSum].
func (l powerLp) Power() float64 { return l.p }

// blockLength is how many powers are computed at a time.
const blockLength = 128

// powers is |r|^p for p > 1.
type powers struct {
	p float64
	// first raises to p-1, which serves value and slope. Second raises to p-2
	// and is used for p >= 2, where that is not a negative power.
	first, second exponent
}

func newPowers(p float64) *powers {
	return &powers{p: p, first: newExponent(p - 1), second: newExponent(max(p-2, 0))}
}

// phi is the Phi of the loss.
func (c *powers) phi(phi, d1, d2, r []float64) {
	var buffer [2][blockLength]float64
	for from := 0; from < len(r); from += blockLength {
		to := min(from+blockLength, len(r))
		a, w := buffer[0][:to-from], buffer[1][:to-from]
		dense.Magnitudes(a, r[from:to])
		if d2 != nil {
			c.curvature(d2[from:to], a)
		}
		if phi == nil && d1 == nil {
			continue
		}
		c.first.raise(w, a)
		if phi != nil {
			dense.Products(phi[from:to], a, w)
		}
		if d1 != nil {
			dense.WithSigns(d1[from:to], c.p, w, r[from:to])
		}
	}
}

// curvature writes p(p-1) a^(p-2), or 0 where that is infinite.
func (c *powers) curvature(dst, a []float64) {
	factor := c.p * (c.p - 1)
	if c.p >= 2 {
		c.second.raise(dst, a)
		for k := range dst {
			dst[k] *= factor
		}
		return
	}
	c.first.raise(dst, a)
	for k, v := range a {
		if v < tiny {
			dst[k] = 0
			continue
		}
		dst[k] *= factor / v
	}
}
