package losses

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// ErrResiduals reports residuals from which noise cannot be estimated.
var ErrResiduals = errors.New("the residuals do not determine the noise")

// Power is generalised Gaussian noise, of density proportional to
// exp(-|e/Scale|^P), as estimated from residuals.
type Power struct {
	// P is the power and PError its standard error.
	P, PError float64
	// Scale is the scale of noise of this power with the variance of the residuals, in their unit. The maximum
	// likelihood scale would treat residuals that a fit has mixed as noise.
	Scale float64
}

// Bounds of the search for a power.
const (
	minPower = 0.5
	maxPower = 16
)

// minPart is the least part of an entry that is used.
const minPart = 0.5

// EstimatePower estimates the power and the scale of independent generalised
// Gaussian noise by maximum likelihood, the scale profiled out:
//
//	L(p) = N (log p - log a(p) - log Gamma(1/p) - 1/p),  a(p)^p = p mean |e|^p.
//
// Parts are the fraction of the variance of each entry, above 0 and up to 1, that the fit has left in the residuals:
// the diagonal of the projector onto the residuals. nil stands for 1, the noise itself. A fit shrinks the noise and
// mixes its entries, so that residuals look more Gaussian than the noise is. An entry with the part h is modelled as
// h times its own noise plus a Gaussian mixture of the others, of variance h (1-h) times its own. All entries are
// scaled to the same variance, and those with a part below one half are left out. P is the power for which the
// likelihood of such sums, with the mean of h, has its maximum where that of the residuals has it. The standard error
// follows from the curvature of L. Powers are searched between 0.5 and 16; at the ends the error is infinite.
func EstimatePower(residuals, parts []float64) (Power, error) {
	if parts != nil && len(parts) != len(residuals) {
		return Power{}, fmt.Errorf("losses: %d parts for %d residuals: %w", len(parts), len(residuals), ErrResiduals)
	}
	s, freedom, square := sizesOf(residuals, parts)
	if s.total < 10 {
		return Power{}, fmt.Errorf("losses: %v residuals that tell something, want 10 or more: %w", s.total, ErrResiduals)
	}
	apparent, curvature := s.peak()
	p, slope := unmixed(apparent, freedom)
	e := Power{P: p, PError: math.Inf(1), Scale: math.Sqrt(square / powerVariance(p))}
	if p > 1.01*minPower && p < 0.99*maxPower && curvature > 0 && slope > 0 {
		// Mixed residuals are worth as many as there are degrees of freedom.
		e.PError = 1 / math.Sqrt(curvature*s.total*freedom) / slope
	}
	return e, nil
}

// sizes are logarithms of |e| with weights, whose sum is total; nil stands for 1.
type sizes struct {
	logs, weights []float64
	total         float64
}

// sizesOf returns the logarithms of the nonzero entries, scaled to their size without the fit. It also returns the
// mean of their parts and of the squares of the parts.
func sizesOf(residuals, parts []float64) (s sizes, freedom, square float64) {
	for i, e := range residuals {
		part := 1.0
		if parts != nil {
			part = min(parts[i], 1)
		}
		l := math.Log(math.Abs(e)) - math.Log(part)/2
		if !(part >= minPart) || math.IsInf(l, 0) || math.IsNaN(l) {
			continue
		}
		s.logs = append(s.logs, l)
		freedom += part
		square += e * e / part
	}
	s.total = float64(len(s.logs))
	return s, freedom / s.total, square / s.total
}

// powerVariance is the variance of noise of scale 1.
func powerVariance(p float64) float64 {
	up, _ := math.Lgamma(3 / p)
	down, _ := math.Lgamma(1 / p)
	return math.Exp(up - down)
}

// profile is L(p)/N without a constant.
func (s *sizes) profile(p float64) float64 {
	top := p * floats.Max(s.logs)
	var sum float64
	for i, v := range s.logs {
		w := 1.0
		if s.weights != nil {
			w = s.weights[i]
		}
		sum += w * math.Exp(p*v-top)
	}
	logMean := top + math.Log(sum/s.total)
	gamma, _ := math.Lgamma(1 / p)
	return math.Log(p) - (math.Log(p)+logMean)/p - gamma - 1/p
}

// peak returns the p that maximises the profile, by golden section in log p, and
// minus the second derivative of the profile there.
func (s *sizes) peak() (p, curvature float64) {
	const golden = 0.6180339887498949
	low, high := math.Log(minPower), math.Log(maxPower)
	at := func(l float64) float64 { return s.profile(math.Exp(l)) }
	a, b := high-golden*(high-low), low+golden*(high-low)
	fa, fb := at(a), at(b)
	for high-low > 1e-5 {
		if fa > fb {
			high, b, fb = b, a, fa
			a = high - golden*(high-low)
			fa = at(a)
		} else {
			low, a, fa = a, b, fb
			b = low + golden*(high-low)
			fb = at(b)
		}
	}
	p = math.Exp((low + high) / 2)
	h := 0.02 * p
	curvature = (2*s.profile(p) - s.profile(p-h) - s.profile(p+h)) / (h * h)
	return p, curvature
}

// unmixed returns the power of the noise whose residuals appear to have the given power, and the derivative of the
// apparent power with respect to it.
func unmixed(apparent, freedom float64) (p, slope float64) {
	if freedom > 1-1e-9 {
		return apparent, 1
	}
	low, high := math.Log(minPower), math.Log(maxPower)
	for high-low > 1e-3 {
		middle := (low + high) / 2
		if looks(math.Exp(middle), freedom) < apparent {
			low = middle
		} else {
			high = middle
		}
	}
	p = math.Exp((low + high) / 2)
	h := 0.05 * p
	return p, (looks(p+h, freedom) - looks(p-h, freedom)) / (2 * h)
}

// Grids that discretise the noise and the mixture.
const (
	noiseCells = 150
	mixCells   = 24
	mixReach   = 5.0  // in standard deviations
	noiseTail  = 1e-8 // fraction of the noise beyond its grid
)

// looks returns the power that the residuals of noise of power p appear to have.
func looks(p, freedom float64) float64 {
	mix := math.Sqrt(freedom * (1 - freedom) * powerVariance(p))
	reach := math.Pow(mathext.GammaIncRegCompInv(1/p, noiseTail), 1/p)
	s := sizes{}
	for i := range noiseCells {
		e := reach * (float64(i) + 0.5) / noiseCells
		for j := range mixCells {
			z := mixReach * (2*(float64(j)+0.5)/mixCells - 1)
			s.logs = append(s.logs, math.Log(math.Abs(freedom*e+mix*z)))
			s.weights = append(s.weights, math.Exp(-math.Pow(e, p)-z*z/2))
		}
	}
	s.total = floats.Sum(s.weights)
	apparent, _ := s.peak()
	return apparent
}
