package principal

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

const (
	// bendAxes bounds the first axes whose coordinates tell what rows are off the plane by.
	bendAxes = 4
)

// PlaneBend is what a surface near a plane is off it by along axes that are no more than noise, one by one: a polynomial of
// the third degree of the first coordinates on the plane, whose values at the rows have shrunk singular values.
type PlaneBend struct {
	First   int       // coordinates that count
	Low, Up []float64 // r: of the rows, beyond which a coordinate is taken for the bound
	Factors []float64 // functions x rank
	Axes    []float64 // rank x D, orthonormal, and orthogonal to the plane
	gain    float64   // by how much it is estimated to lower the mean squared error
}

// bendFunctions is the number of functions of r coordinates: 1, all of these, and the products of two and of three of the first ones.
func bendFunctions(r, first int) int {
	return 1 + r + first*(first+1)/2 + first*(first+1)*(first+2)/6
}

// at writes the functions at z into psi.
func (b *PlaneBend) at(psi, z []float64) {
	psi[0] = 1
	u := psi[1 : 1+len(z)]
	for a, v := range z {
		u[a] = 0
		if half := (b.Up[a] - b.Low[a]) / 2; half > 0 {
			u[a] = min(max((v-b.Low[a])/half-1, -1), 1)
		}
	}
	k := 1 + len(z)
	for a := range b.First {
		for c := a; c < b.First; c++ {
			psi[k] = u[a] * u[c]
			k++
			for e := c; e < b.First; e++ {
				psi[k] = u[a] * u[c] * u[e]
				k++
			}
		}
	}
}

// values writes the coordinates along its axes of what the surface is off the plane by at z into dst.
func (b *PlaneBend) values(dst, z []float64) []float64 {
	var few [2 * mostBends]float64 // in most cases
	psi := few[:]
	if m := bendFunctions(len(z), b.First); m <= len(few) {
		psi = psi[:m]
	} else {
		psi = make([]float64, m)
	}
	b.at(psi, z)
	for a := range dst {
		dst[a] = 0
		for k, v := range psi {
			dst[a] += v * b.Factors[k*len(dst)+a]
		}
	}
	return dst
}

// rank is the number of axes that it has for rows of length D.
func (b *PlaneBend) rank(D int) int { return len(b.Axes) / D }

// add adds what the surface is off the plane by at the coordinates z, times a factor, to dst.
func (b *PlaneBend) add(dst, z []float64, factor float64) {
	var few [mostBends]float64
	D := len(dst)
	for a, v := range b.values(few[:b.rank(D)], z) {
		floats.AddScaled(dst, factor*v, b.Axes[a*D:(a+1)*D])
	}
}

// off is how far row x of a mean, at the distance far from the plane, is off the surface at z across the plane.
func (b *PlaneBend) off(x, mean, z []float64, far float64) float64 {
	var few [mostBends]float64
	D := len(x)
	square := far * far
	for a, v := range b.values(few[:b.rank(D)], z) {
		axis := b.Axes[a*D : (a+1)*D]
		square += v * (v - 2*(dense.Dot(axis, x)-dense.Dot(axis, mean)))
	}
	return math.Sqrt(max(square, 0))
}

// mostBends is the largest number of axes: that of products of coordinates.
const mostBends = bendAxes*(bendAxes+1)/2 + bendAxes*(bendAxes+1)*(bendAxes+2)/6

// findBend regresses what the rows that count are off the plane by on polynomials of the first coordinates, and keeps
// the singular values that are more than noise, shrunk as Gavish and Donoho do: of as many coordinates as make that
// most. Linear functions are regressed out, as axes have these.
func (p *Plane) findBend(f *planeFit, kept []float64) {
	if !(p.Noise > 0) || p.R >= p.D {
		return
	}
	list := someOf(kept)
	z, rest := make([]float64, len(list)*p.R), make([]float64, len(list)*p.D)
	p.Each(len(list), f.threads, func(diff []float64, k int) {
		p.split(z[k*p.R:(k+1)*p.R], diff, f.x.Row(list[k]))
		copy(rest[k*p.D:(k+1)*p.D], diff)
	})
	b := PlaneBend{Low: make([]float64, p.R), Up: make([]float64, p.R)}
	for a := range p.R {
		b.Low[a], b.Up[a] = math.Inf(1), math.Inf(-1)
		for k := range list {
			b.Low[a], b.Up[a] = min(b.Low[a], z[k*p.R+a]), max(b.Up[a], z[k*p.R+a])
		}
	}
	var most float64
	for b.First = 1; b.First <= min(p.R, bendAxes) && len(list) >= 10*bendFunctions(p.R, b.First); b.First++ {
		one := b
		if one.gain = one.fit(z, rest, p) / float64(len(list)); one.gain > most {
			p.Bend, most = &one, one.gain
		}
	}
}

// fit fits the functions, and returns by how much that is estimated to lower the sum of squared errors.
func (b *PlaneBend) fit(z, rest []float64, p *Plane) (gain float64) {
	n, r, D := len(rest)/p.D, p.R, p.D
	m := bendFunctions(r, b.First)
	gram, from, psi := make([]float64, m*m), make([]float64, m*D), make([]float64, m)
	for i := range n {
		b.at(psi, z[i*r:(i+1)*r])
		for k, v := range psi {
			floats.AddScaled(gram[k*m:k*m+k+1], v, psi[:k+1])
			floats.AddScaled(from[k*D:(k+1)*D], v, rest[i*D:(i+1)*D])
		}
	}
	if !dense.FactorCholesky(gram, m, 0, 1e-9) { // a function is so much beside those before it
		return 0
	}
	dense.ForwardCholeskyRows(from, gram, m, D)
	skip, q := 1+r, float64(D-r)
	bent := from[skip*D:]
	count := m - skip
	eigen := dense.NewSymmetricEigen(count)
	for k := range count {
		for l := k; l < count; l++ {
			eigen.A[k*count+l] = dense.Dot(bent[k*D:(k+1)*D], bent[l*D:(l+1)*D])
		}
	}
	if !eigen.Factorize() {
		return 0
	}
	variance, rank := p.Noise*p.Noise, 0
	for rank < count && eigen.Values[count-1-rank] > variance*float64(count)*largestOfNoise(float64(count), q) {
		rank++
	}
	b.Factors, b.Axes = make([]float64, m*rank), make([]float64, rank*D)
	for a := range rank {
		at := count - 1 - a
		square := eigen.Values[at]
		size := math.Sqrt(square)
		shrink := axisGain(square/variance/float64(count), float64(count), D-r)
		gain += square * shrink * shrink
		for k := range count {
			u := eigen.A[k*count+at]
			b.Factors[(skip+k)*rank+a] = u * size * shrink
			floats.AddScaled(b.Axes[a*D:(a+1)*D], u/size, bent[k*D:(k+1)*D])
		}
	}
	if rank > 0 {
		dense.BackwardCholeskyRows(b.Factors, gram, m, rank)
	}
	return gain
}

// Bent is by how much the bend of a plane is estimated to lower the mean squared error.
func (p *Plane) Bent() float64 {
	if p.Bend == nil {
		return 0
	}
	return p.Bend.gain
}

// straight is a plane without its bend.
func (p *Plane) straight() *Plane {
	s := *p
	s.Bend = nil
	return &s
}
