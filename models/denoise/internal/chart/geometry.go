package chart

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Spread is the standard deviation of the rows from the surface, in each direction
// at right angles to it at their own places: what is left across the plane is longer
// than that where the surface is steep over the plane. cut is where rows stopped to
// count: Tukey's loss leaves less of the noise than there is.
func (c *Surface) Spread(k int, cut float64) float64 {
	var rest, total, square float64
	for i, w := range c.used[:k] {
		if w > 0 {
			rest += w * c.offSurface(i)
			total += w
			square += w * w
		}
	}
	return BeforeTukey(SpreadPerDirection(rest, total, square, c.p, c.D-c.d), cut, c.D-c.d)
}

// BeforeTukey is the standard deviation, in each of q directions, of normal noise
// that has the given one after weighting by Tukey's loss with a cut. With u = s/cut
// and moments q, q(q+2), q(q+2)(q+4) of the squared length, the weighted mean square
// in units of q s^2 is (1 - 2(q+2)u^2 + (q+2)(q+4)u^4)/(1 - 2q u^2 + q(q+2)u^4).
func BeforeTukey(seen, cut float64, q int) float64 {
	if math.IsInf(cut, 1) || !(seen > 0) {
		return seen
	}
	const steps = 8
	n, s := float64(q), seen
	for range steps {
		// Noise much above the scale of the cut is beyond what moments tell.
		u := math.Min(s*s/(cut*cut), 1/(4*(n+4)))
		left := (1 - 2*(n+2)*u + (n+2)*(n+4)*u*u) / (1 - 2*n*u + n*(n+2)*u*u)
		s = seen / math.Sqrt(left)
	}
	return s
}

// offSurface is the square of the part of the residual of row i that is at right
// angles to the tangent at its place.
func (c *Surface) offSurface(i int) float64 {
	D := c.D
	psi := c.psi[i*c.p : (i+1)*c.p]
	copy(c.at, c.v[i*D:(i+1)*D])
	for a, f := range psi {
		floats.AddScaled(c.at, -f, c.b[a*D:(a+1)*D])
	}
	square := dense.Dot(c.at, c.at)
	c.Differentiate(psi[1 : 1+c.d])
	if !c.Metric() {
		return square
	}
	for a := range c.d {
		c.step[a] = dense.Dot(c.Jac[a*D:(a+1)*D], c.at)
	}
	var along float64
	copy(c.g, c.step)
	dense.SolveCholeskyRows(c.step, c.h, c.d, 1)
	for a, v := range c.step {
		along += v * c.g[a]
	}
	return max(square-along, 0)
}

// Metric leaves the factor of the inner products of the derivatives in h.
func (c *Surface) Metric() bool {
	for a := range c.d {
		for b := range a + 1 {
			c.h[a*c.d+b] = dense.Dot(c.Jac[a*c.D:(a+1)*c.D], c.Jac[b*c.D:(b+1)*c.D])
		}
	}
	return dense.FactorCholesky(c.h, c.d, 0, Singular)
}

// SecondForm writes the second derivatives of the chart along a direction, d x d.
func (c *Surface) SecondForm(dst, direction []float64) {
	at := 1 + c.d
	for i := range c.d {
		for j := i; j < c.d; j++ {
			v := dense.Dot(c.b[at*c.D:(at+1)*c.D], direction)
			if i == j {
				v *= 2
			}
			dst[i*c.d+j], dst[j*c.d+i] = v, v
			at++
		}
	}
}

// ToOrthonormal takes a form in the coordinates of the chart to orthonormal ones of
// the tangent, by the factor L that metric has left: L^-1 form L^-T.
func (c *Surface) ToOrthonormal(form []float64) {
	d := c.d
	for range 2 { // L^-1 on the left, transposed, and again
		for col := range d {
			for i := range d {
				v := form[i*d+col]
				for k := range i {
					v -= c.h[i*d+k] * form[k*d+col]
				}
				form[i*d+col] = v / c.h[i*d+i]
			}
		}
		for i := range d {
			for j := range i {
				form[i*d+j], form[j*d+i] = form[j*d+i], form[i*d+j]
			}
		}
	}
}
