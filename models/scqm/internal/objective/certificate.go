package objective

import "slices"

// Certificate defines how a run with a loss with kinks measures stationarity. It holds the last smoothing length, 0 for
// none, and the multipliers.
type Certificate struct {
	Eps         float64
	Multipliers []float64
}

// Certificate returns a copy of the certificate of the last run.
func (p *Objective) Certificate() Certificate {
	return Certificate{p.SmoothingLength(), slices.Clone(p.multipliers)}
}

// SetCertificate sets the certificate of another run as the measure of stationarity.
func (p *Objective) SetCertificate(c Certificate) {
	if c.Eps > 0 {
		p.Smooth(c.Eps)
		p.Smooth(0)
	}
	p.SetMultipliers(c.Multipliers)
}

// CertificateSlack bounds the error of the gradients in Stationarity as subgradients of the loss. If the problem was
// smoothed (see [Problem.Smooth]), g_i is the gradient of the smoothed loss l_e at r_i. As l_e is convex and nowhere
// above the loss l,
//
//	l(y) >= l_e(y) >= l_e(r_i) + g_i'(y - r_i) = l(r_i) + g_i'(y - r_i) - e_i
//
// with e_i = l(r_i) - l_e(r_i), so that g_i is an e_i-subgradient of the loss at r_i. The slack is sum w_i e_i / sum
// w_i l(r_i). A point counts as stationary to a tolerance only if it balances e_i-subgradients to that tolerance, and
// the sum of their defects e_i is within that fraction of the objective.
//
// Plain subgradients do not suffice: at a minimum of l1 many residuals are exactly 0, and the subgradient that
// balances the others there is any number in [-1, 1]. The arguments are the two sums of losses.
func CertificateSlack(plain, rounded float64) float64 {
	if plain == 0 {
		return 0
	}
	return max(0, plain-rounded) / plain
}
