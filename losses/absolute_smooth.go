package losses

// smoothAbsolute returns the Phi of s - eps with s = sqrt(r^2 + eps^2).
func smoothAbsolute(eps float64) func(phi, d1, d2, r []float64) {
	c := &smoothAbsolutes{newRoundedEntries(eps)}
	return c.phi
}

type smoothAbsolutes struct{ roundedEntries }

func (c *smoothAbsolutes) phi(phi, d1, d2, r []float64) {
	var buffer [blockLength]float64
	for from := 0; from < len(r); from += blockLength {
		to := min(from+blockLength, len(r))
		s, r := buffer[:to-from], r[from:to]
		c.hypotenuses(s, r)
		c.write(part(phi, from, to), r, s, s, absoluteValues)
		c.write(part(d2, from, to), r, s, s, absoluteCurvatures)
		c.write(part(d1, from, to), r, s, s, absoluteSlopes)
	}
}
