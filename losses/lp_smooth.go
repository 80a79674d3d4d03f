package losses

const (
	// seriesBelow is the |r|/eps below which the value is taken from the
	// binomial series, as the difference of two powers would cancel.
	seriesBelow = 1. / 16
	// seriesTerms terms of it are exact to rounding there.
	seriesTerms = 7
)

// smoothPowers is s^p - eps^p with s = sqrt(r^2 + eps^2), for 1 < p < 2.
type smoothPowers struct {
	p, eps float64
	first  exponent // raises to p-1
	offset float64  // eps^p
	series [seriesTerms]float64
}

func newSmoothPowers(p, eps float64) *smoothPowers {
	c := &smoothPowers{p: p, eps: eps, first: newExponent(p - 1)}
	c.offset = eps * c.first.one(eps)
	coefficient := c.offset
	for j := range c.series {
		coefficient *= (p/2 - float64(j)) / float64(j+1)
		c.series[j] = coefficient
	}
	return c
}

// phi is the Phi of the loss.
func (c *smoothPowers) phi(phi, d1, d2, r []float64) {
	var buffer [2][blockLength]float64
	for from := 0; from < len(r); from += blockLength {
		to := min(from+blockLength, len(r))
		s, w := buffer[0][:to-from], buffer[1][:to-from]
		for k, v := range r[from:to] {
			s[k] = hypotenuse(v, c.eps)
		}
		c.first.raise(w, s)
		c.write(part(phi, from, to), part(d1, from, to), part(d2, from, to), r[from:to], s, w)
	}
}

// write computes the terms from s and w = s^(p-1).
func (c *smoothPowers) write(phi, d1, d2, r, s, w []float64) {
	for k, v := range r {
		ratio := v / s[k]
		weight := c.p * w[k] / s[k]
		if phi != nil {
			phi[k] = c.value(v, s[k]*w[k])
		}
		if d2 != nil {
			d2[k] = weight * (1 - (2-c.p)*ratio*ratio)
		}
		if d1 != nil {
			d1[k] = weight * v
		}
	}
}

// value returns power - eps^p, where power = s^p.
func (c *smoothPowers) value(r, power float64) float64 {
	x := r / c.eps
	if !(x < seriesBelow && x > -seriesBelow) {
		return power - c.offset
	}
	z, sum := x*x, 0.0
	for j := seriesTerms - 1; j >= 0; j-- {
		sum = (sum + c.series[j]) * z
	}
	return sum
}
