package losses

const (
	// seriesBelow is the |r|/eps below which the value is computed by the binomial series, because the difference of
	// two powers would cancel.
	seriesBelow = 1. / 16
	// seriesTerms is the number of terms of the series that is exact to rounding there.
	seriesTerms = 7
)

// smoothPowers is s^p - eps^p with s = sqrt(r^2 + eps^2), for 1 < p < 2.
type smoothPowers struct {
	roundedEntries
	first exponent // raises to p-1
}

func newSmoothPowers(p, eps float64) *smoothPowers {
	c := &smoothPowers{newRoundedEntries(eps), newExponent(p - 1)}
	t := &c.table
	t.power, t.bend, t.inverse, t.below = p, 2-p, 1/eps, seriesBelow*seriesBelow
	t.offset = eps * c.first.one(eps)
	coefficient := t.offset
	for j := range t.series {
		coefficient *= (p/2 - float64(j)) / float64(j+1)
		t.series[j] = coefficient
	}
	return c
}

// phi is the Phi of the loss.
func (c *smoothPowers) phi(phi, d1, d2, r []float64) {
	var buffer [2][blockLength]float64
	for from := 0; from < len(r); from += blockLength {
		to := min(from+blockLength, len(r))
		s, w, r := buffer[0][:to-from], buffer[1][:to-from], r[from:to]
		c.hypotenuses(s, r)
		c.first.raise(w, s)
		c.write(part(phi, from, to), r, s, w, powerValues)
		c.write(part(d2, from, to), r, s, w, powerCurvatures)
		c.write(part(d1, from, to), r, s, w, powerSlopes)
	}
}

// powerValue is s^p - eps^p. Conversions keep products from being fused with sums.
func powerValue(t *smoothTable, r, s, w float64) float64 {
	x := r * t.inverse
	z := float64(x * x)
	if !(t.below > z) {
		return float64(s*w) - t.offset
	}
	sum := float64(t.series[seriesTerms-1] * z)
	for j := seriesTerms - 2; j >= 0; j-- {
		sum = float64((sum + t.series[j]) * z)
	}
	return sum
}

// powerCurvature is the second derivative.
func powerCurvature(t *smoothTable, r, s, w float64) float64 {
	ratio := r / s
	return t.power * w / s * (1 - float64(t.bend*ratio*ratio))
}
