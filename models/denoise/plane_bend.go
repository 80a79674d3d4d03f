package denoise

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

const (
	// bendAxes bounds the first axes whose coordinates tell what rows are off the plane by.
	bendAxes = 4
	// bendRows is the least number of rows for each function of these.
	bendRows = 10
)

// planeBend is what a surface near a plane is off it by along axes that are no more than noise, one by one: a polynomial of
// the third degree of the first coordinates on the plane, whose values at the rows have shrunk singular values.
type planeBend struct {
	first   int       // coordinates that count
	low, up []float64 // r: of the rows, beyond which a coordinate is taken for the bound
	factors []float64 // functions x rank
	axes    []float64 // rank x D, orthonormal, and orthogonal to the plane
	gain    float64   // by how much it is estimated to lower the mean squared error
}

// bendFunctions is the number of functions of r coordinates: 1, all of these, and the products of two and of three of the first ones.
func bendFunctions(r, first int) int {
	return 1 + r + first*(first+1)/2 + first*(first+1)*(first+2)/6
}

// at writes the functions at z into psi.
func (b *planeBend) at(psi, z []float64) {
	psi[0] = 1
	u := psi[1 : 1+len(z)]
	for a, v := range z {
		u[a] = 0
		if half := (b.up[a] - b.low[a]) / 2; half > 0 {
			u[a] = min(max((v-b.low[a])/half-1, -1), 1)
		}
	}
	k := 1 + len(z)
	for a := range b.first {
		for c := a; c < b.first; c++ {
			psi[k] = u[a] * u[c]
			k++
			for e := c; e < b.first; e++ {
				psi[k] = u[a] * u[c] * u[e]
				k++
			}
		}
	}
}

// values writes the coordinates along its axes of what the surface is off the plane by at z into dst.
func (b *planeBend) values(dst, z []float64) []float64 {
	var few [fewFunctions]float64
	psi := few[:]
	if m := bendFunctions(len(z), b.first); m <= fewFunctions {
		psi = psi[:m]
	} else {
		psi = make([]float64, m)
	}
	b.at(psi, z)
	for a := range dst {
		dst[a] = 0
		for k, v := range psi {
			dst[a] += v * b.factors[k*len(dst)+a]
		}
	}
	return dst
}

// fewFunctions are kept without memory of their own.
const fewFunctions = 64

// rank is the number of axes that it has for rows of length D.
func (b *planeBend) rank(D int) int { return len(b.axes) / D }

// add adds what the surface is off the plane by at the coordinates z, times a factor, to dst.
func (b *planeBend) add(dst, z []float64, factor float64) {
	var few [mostBends]float64
	D := len(dst)
	for a, v := range b.values(few[:b.rank(D)], z) {
		floats.AddScaled(dst, factor*v, b.axes[a*D:(a+1)*D])
	}
}

// off is how far row x of a mean, at the distance far from the plane, is off the surface at z across the plane.
func (b *planeBend) off(x, mean, z []float64, far float64) float64 {
	var few [mostBends]float64
	D := len(x)
	square := far * far
	for a, v := range b.values(few[:b.rank(D)], z) {
		axis := b.axes[a*D : (a+1)*D]
		square += v * (v - 2*(dense.Dot(axis, x)-dense.Dot(axis, mean)))
	}
	return math.Sqrt(max(square, 0))
}

// mostBends is the largest number of axes: that of products of coordinates.
const mostBends = bendAxes*(bendAxes+1)/2 + bendAxes*(bendAxes+1)*(bendAxes+2)/6

// findBend regresses what the rows that count are off the plane by on polynomials of the first coordinates, and keeps
// the singular values that are more than noise, shrunk as Gavish and Donoho do: of as many coordinates as make that
// most. Linear functions are regressed out, as axes have these.
func (p *plane) findBend(f *planeFit, kept []float64) {
	if !(p.noise > 0) || p.r >= p.D {
		return
	}
	list := someOf(kept)
	z, rest := make([]float64, len(list)*p.r), make([]float64, len(list)*p.D)
	p.each(len(list), f.threads, func(diff []float64, k int) {
		p.split(z[k*p.r:(k+1)*p.r], diff, f.x.Row(list[k]))
		copy(rest[k*p.D:(k+1)*p.D], diff)
	})
	b := planeBend{low: make([]float64, p.r), up: make([]float64, p.r)}
	for a := range p.r {
		b.low[a], b.up[a] = math.Inf(1), math.Inf(-1)
		for k := range list {
			b.low[a], b.up[a] = min(b.low[a], z[k*p.r+a]), max(b.up[a], z[k*p.r+a])
		}
	}
	var most float64
	for b.first = 1; b.first <= min(p.r, bendAxes) && len(list) >= bendRows*bendFunctions(p.r, b.first); b.first++ {
		one := b
		if one.gain = one.fit(z, rest, p) / float64(len(list)); one.gain > most {
			p.bend, most = &one, one.gain
		}
	}
}

// fit fits the functions, and returns by how much that is estimated to lower the sum of squared errors.
func (b *planeBend) fit(z, rest []float64, p *plane) (gain float64) {
	n, r, D := len(rest)/p.D, p.r, p.D
	m := bendFunctions(r, b.first)
	gram, from, psi := make([]float64, m*m), make([]float64, m*D), make([]float64, m)
	for i := range n {
		b.at(psi, z[i*r:(i+1)*r])
		for k, v := range psi {
			floats.AddScaled(gram[k*m:k*m+k+1], v, psi[:k+1])
			floats.AddScaled(from[k*D:(k+1)*D], v, rest[i*D:(i+1)*D])
		}
	}
	if !dense.FactorCholesky(gram, m, 0, independent) {
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
	variance, rank := p.noise*p.noise, 0
	for rank < count && eigen.Values[count-1-rank] > variance*float64(count)*largestOfNoise(float64(count), q) {
		rank++
	}
	b.factors, b.axes = make([]float64, m*rank), make([]float64, rank*D)
	for a := range rank {
		at := count - 1 - a
		square := eigen.Values[at]
		size := math.Sqrt(square)
		shrink := axisGain(square/variance/float64(count), float64(count), D-r)
		gain += square * shrink * shrink
		for k := range count {
			u := eigen.A[k*count+at]
			b.factors[(skip+k)*rank+a] = u * size * shrink
			floats.AddScaled(b.axes[a*D:(a+1)*D], u/size, bent[k*D:(k+1)*D])
		}
	}
	if rank > 0 {
		dense.BackwardCholeskyRows(b.factors, gram, m, rank)
	}
	return gain
}

// independent is the part of a function beside those before it below which it is taken for one of these.
const independent = 1e-9

// bent is by how much the bend of a plane is estimated to lower the mean squared error.
func (p *plane) bent() float64 {
	if p.bend == nil {
		return 0
	}
	return p.bend.gain
}

// straight is a plane without its bend.
func (p *plane) straight() *plane {
	s := *p
	s.bend = nil
	return &s
}
