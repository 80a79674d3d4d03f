package scqm

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// newtonStep solves (H + shift I) step = -g for a symmetric d x d matrix h,
// with the smallest shift of those tried that makes the matrix safely positive
// definite: none, else one from Gershgorin's circles. h is overwritten. The
// step is a descent direction.
func newtonStep(step, h, g []float64) {
	d := len(g)
	var size, lower float64
	lower = math.Inf(1)
	for i := range d {
		var off float64
		for j := range d {
			if j != i {
				off += math.Abs(h[i*d+j])
			}
		}
		size = math.Max(size, math.Abs(h[i*d+i])+off)
		lower = math.Min(lower, h[i*d+i]-off)
	}
	if size == 0 || math.IsInf(size, 0) || math.IsNaN(size) {
		floats.ScaleTo(step, -1, g)
		return
	}
	const flat = 1e-10 // curvature, relative to the largest, that counts as none
	if !choleskyKeeping(h, d, flat*size) {
		shift := 2*math.Max(0, -lower) + 1e-3*size
		for i := range d {
			h[i*d+i] += shift
		}
		choleskyKeeping(h, d, 0)
	}
	floats.ScaleTo(step, -1, g)
	choleskySolve(step, h, d)
}

// choleskyKeeping factors h = LL' below and on the diagonal. If a pivot is not
// larger than least, it restores the diagonal from the upper triangle's copy
// and reports false.
func choleskyKeeping(h []float64, d int, least float64) bool {
	var diagonal [64]float64
	keep := diagonal[:0]
	for i := range d {
		keep = append(keep, h[i*d+i])
	}
	for j := range d {
		pivot := h[j*d+j]
		for k := range j {
			pivot -= h[j*d+k] * h[j*d+k]
		}
		if !(pivot > least) {
			for i := range d { // the upper triangle still holds the matrix
				h[i*d+i] = keep[i]
				for k := range i {
					h[i*d+k] = h[k*d+i]
				}
			}
			return false
		}
		pivot = math.Sqrt(pivot)
		h[j*d+j] = pivot
		for i := j + 1; i < d; i++ {
			v := h[i*d+j]
			for k := range j {
				v -= h[i*d+k] * h[j*d+k]
			}
			h[i*d+j] = v / pivot
		}
	}
	return true
}

// choleskySolve solves LL'x = b in place.
func choleskySolve(x, l []float64, d int) {
	for i := range d {
		for k := range i {
			x[i] -= l[i*d+k] * x[k]
		}
		x[i] /= l[i*d+i]
	}
	for i := d - 1; i >= 0; i-- {
		for k := i + 1; k < d; k++ {
			x[i] -= l[k*d+i] * x[k]
		}
		x[i] /= l[i*d+i]
	}
}

// cubicRoots writes the real roots of a t^3 + b t^2 + c t + e and returns their
// number; a cubic that is no cubic is solved as what it is.
func cubicRoots(roots *[3]float64, a, b, c, e float64) int {
	if size := math.Max(math.Abs(b), math.Max(math.Abs(c), math.Abs(e))); math.Abs(a) <= 1e-14*size {
		return quadraticRoots(roots, b, c, e)
	}
	b, c, e = b/a, c/a, e/a
	shift := b / 3
	p, q := c-b*shift, e-shift*c+2*shift*shift*shift
	half, third := q/2, p/3
	if disc := half*half + third*third*third; disc > 0 {
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
		roots[k] = 2*radius*math.Cos(angle-2*math.Pi*float64(k)/3) - shift
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
	disc := b*b - 4*a*c
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
