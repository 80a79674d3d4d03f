package nearest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// pureSteps bounds the Newton steps of a row that begins at its own coordinates,
	// purePrecision is the relative length of a last step: the next would be about its
	// square, and change the distance by the square of that.
	pureSteps     = 12
	purePrecision = 1e-4
	// pureGradient is half of the gradient of h, relative to [a; b], from which on a row
	// has not arrived.
	pureGradient = 1e-7
)

// Find writes the nearest point of the sheet into tau, for [a; b] = Q'(x - c) in Y. It
// is a function of Y and Theta alone, up to 12 Newton steps from a, and further ones
// where that is no nearest point: exact for d <= 2 and for s <= 1 as
// [Projector.Project] is, to about 8 digits of tau. It returns h there and leaves
// behind what [Quadratic.Value] does. Theta is taken by [Quadratic.Reload].
func (p *Footpoint) Find(tau []float64) float64 {
	copy(tau, p.Y[:p.f.Latent])
	if p.f.S == 0 {
		return p.Value(tau)
	}
	value := p.Minimize(tau, pureSteps, purePrecision)
	if p.certified(tau) && p.stationary(tau) {
		return value
	}
	p.distance = p.distance[:0]
	copy(p.minima[0], tau)
	value = p.settle(p.minima[0])
	if p.f.Latent > 2 && p.f.S > 1 {
		p.search()
		value = p.Value(p.minima[0])
	}
	p.descend(p.minima[0], value)
	copy(tau, p.minima[0])
	return p.Value(tau)
}

// stationary reports whether the gradient of h vanishes at tau, where certified was
// called last.
func (p *Footpoint) stationary(tau []float64) bool {
	g := p.lower
	copy(g, p.residual()[:len(tau)])
	sheet.AddForm(g, p.w, tau)
	size := p.flatForm(0, 0)
	for j := range tau {
		size = max(size, p.flatForm(j, j))
	}
	return floats.Norm(g, 2) <= pureGradient*size*floats.Norm(p.Y, 2)
}
