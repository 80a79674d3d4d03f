package objective

import "slices"

// Certificate is what measures the stationarity of a run for a loss with kinks: the last smoothing length, 0
// for none, and the multipliers.
type Certificate struct {
	Eps         float64
	Multipliers []float64
}

// Certificate returns a copy of the certificate of the last run.
func (p *Objective) Certificate() Certificate {
	return Certificate{p.SmoothingLength(), slices.Clone(p.multipliers)}
}

// SetCertificate measures stationarity with the certificate of another run.
func (p *Objective) SetCertificate(c Certificate) {
	if c.Eps > 0 {
		p.Smooth(c.Eps)
		p.Smooth(0)
	}
	p.SetMultipliers(c.Multipliers)
}

// certificateSlack bounds the error of the gradients in Stationarity as subgradients of the loss. Where the
// problem was smoothed (see [Problem.Smooth]), g_i is the gradient of the smoothed loss l_e at r_i. As l_e is
// convex and nowhere above the loss l,
//
//	l(y) >= l_e(y) >= l_e(r_i) + g_i'(y - r_i) = l(r_i) + g_i'(y - r_i) - e_i
//
// with e_i = l(r_i) - l_e(r_i): g_i is an e_i-subgradient of the loss at r_i. The slack is sum w_i e_i / sum
// w_i l(r_i), so that a point counts as stationary to a tolerance only where it balances e_i-subgradients to
// that tolerance, and their defects e_i together are within that fraction of the objective.
//
// Plain subgradients would not do: a fit that minimises l1 sits where many residuals are exactly 0, and the
// sign that balances the others there is any number in [-1, 1].
func certificateSlack(plain, rounded *firstOrder) float64 {
	if plain.loss == 0 {
		return 0
	}
	return max(0, plain.loss-rounded.loss) / plain.loss
}
