package chart

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// spread is the standard deviation of the rows from the surface, in each direction normal to the surface at their own
// positions. Distances normal to the plane would be too long if the surface is steep over the plane. Tukey's loss
// reduces the estimate below the noise.
func (c *Surface) spread() float64 {
	var rest, total, square float64
	for i, w := range c.used[:c.k] {
		if w > 0 {
			rest += w * c.offSurface(i)
			total += w
			square += w * w
		}
	}
	return BeforeTukey(SpreadPerDirection(rest, total, square, c.p, c.D-c.d), c.cut, c.D-c.d)
}

// BeforeTukey is the standard deviation, in each of q directions, of normal noise that has the given one after
// weighting by Tukey's loss with a cut. With u = s/cut and moments q, q(q+2), q(q+2)(q+4) of the squared length, the
// weighted mean square in units of q s^2 is (1 - 2(q+2)u^2 + (q+2)(q+4)u^4)/(1 - 2q u^2 + q(q+2)u^4).
func BeforeTukey(seen, cut float64, q int) float64 {
	if math.IsInf(cut, 1) || !(seen > 0) {
		return seen
	}
	n, s := float64(q), seen
	for range 8 {
		// Noise much above the scale of the cut is beyond what moments tell.
		u := math.Min(s*s/(cut*cut), 1/(4*(n+4)))
		left := (1 - 2*(n+2)*u + (n+2)*(n+4)*u*u) / (1 - 2*n*u + n*(n+2)*u*u)
		s = seen / math.Sqrt(left)
	}
	return s
}

// offSurface is the square of the part of the residual of row i that is normal to the tangent plane at its position.
func (c *Surface) offSurface(i int) float64 {
	D := c.D
	psi := c.psi[i*c.p : (i+1)*c.p]
	copy(c.at, c.v[i*D:(i+1)*D])
	for a, f := range psi {
		floats.AddScaled(c.at, -f, c.b[a*D:(a+1)*D])
	}
	square := dense.Dot(c.at, c.at)
	c.differentiate(psi[1 : 1+c.d])
	if !c.metric() {
		return square
	}
	for a := range c.d {
		c.step[a] = dense.Dot(c.jac[a*D:(a+1)*D], c.at)
	}
	var along float64
	copy(c.g, c.step)
	dense.SolveCholeskyRows(c.step, c.h, c.d, 1)
	for a, v := range c.step {
		along += v * c.g[a]
	}
	return max(square-along, 0)
}

// metric stores the factor of the inner products of the derivatives in h.
func (c *Surface) metric() bool {
	for a := range c.d {
		for b := range a + 1 {
			c.h[a*c.d+b] = dense.Dot(c.jac[a*c.D:(a+1)*c.D], c.jac[b*c.D:(b+1)*c.D])
		}
	}
	return dense.FactorCholesky(c.h, c.d, 0, Singular)
}
