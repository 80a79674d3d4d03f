package dense

import "math"

// CubicRoots writes the real roots of a t^3 + b t^2 + c t + e and returns their number. If
// a is 0, it solves the equation of lower degree.
func CubicRoots(roots *[3]float64, a, b, c, e float64) int {
	if size := math.Max(math.Abs(b), math.Max(math.Abs(c), math.Abs(e))); math.Abs(a) <= 1e-14*size {
		return quadraticRoots(roots, b, c, e)
	}
	b, c, e = b/a, c/a, e/a
	shift := b / 3
	p, q := c-float64(b*shift), e-float64(shift*c)+float64(2*shift*shift*shift)
	half, third := q/2, p/3
	if disc := float64(half*half) + float64(third*third*third); disc > 0 {
		u := math.Cbrt(math.Abs(half) + math.Sqrt(disc))
		t := u
		if u != 0 {
			t = u - third/u
		}
		roots[0] = math.Copysign(t, -half) - shift
		return 1
	}
	radius := math.Sqrt(math.Max(0, -third))
	if radius == 0 {
		roots[0] = -shift
		return 1
	}
	angle := math.Acos(min(max(-half/(radius*radius*radius), -1), 1)) / 3
	for k := range roots {
		roots[k] = float64(2*radius*math.Cos(angle-2*math.Pi*float64(k)/3)) - shift
	}
	return 3
}

func quadraticRoots(roots *[3]float64, a, b, c float64) int {
	if a == 0 {
		if b == 0 {
			return 0
		}
		roots[0] = -c / b
		return 1
	}
	disc := float64(b*b) - float64(4*a*c)
	if disc < 0 {
		return 0
	}
	q := -(b + math.Copysign(math.Sqrt(disc), b)) / 2
	roots[0] = q / a
	if q == 0 {
		return 1
	}
	roots[1] = c / q
	return 2
}
