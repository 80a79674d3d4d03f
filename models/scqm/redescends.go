package scqm

import "github.com/scqm/scqm/framework"

// slowGrowth is the factor by which the loss of a residual of twice the length is larger, at most, where it
// redescends; for the norm it is 2.
const slowGrowth = 1.9

// redescends reports whether a loss grows less than the norm for rows as far apart as the extent. It then has
// minima for the rows of every sheet that is there, and a fit starts at that by l2.
func redescends(l framework.Loss, extent float64) bool {
	radial, ok := l.(framework.Radial)
	if !ok {
		return false
	}
	rho := make([]float64, 2)
	radial.Rho(rho, nil, nil, []float64{extent * extent, 4 * extent * extent})
	return rho[1] < slowGrowth*rho[0]
}
