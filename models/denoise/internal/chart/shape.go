package chart

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// Shape holds the normal and the curvature of a surface at a point, as weighted means over charts. The first chart
// added is that of the point; its weight may be 0. Charts whose normals differ much from its normal are ignored, as
// they are on the other side of an edge.
type Shape struct {
	Normal []float64 // D: a unit normal if d = D-1, otherwise 0

	chart  *Surface
	begun  bool
	face   []float64 // D: normal of the first chart
	total  float64
	axes   []float64             // d x D: of the tangent plane of the current chart
	dual   []float64             // d x D: dual basis of the derivatives in the same plane
	normal []float64             // D: of the same chart, or its mean curvature
	mean   []float64             // D: the mean curvature vector
	form   *dense.SymmetricEigen // D x D: second derivatives along the normal
}

// NewShape allocates a Shape for surfaces of dimension d in space of dimension D.
func NewShape(D, d int) *Shape {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &Shape{Normal: vec(D), chart: NewSurface(D, d), face: vec(D), axes: vec(d * D), dual: vec(d * D), normal: vec(D), mean: vec(D), form: dense.NewSymmetricEigen(D)}
}

// sameFace is the least cosine between normals of charts on one side of an edge.
const sameFace = 0.8

// Begin removes all charts, to describe another point.
func (s *Shape) Begin() {
	s.begun, s.total = false, 0
	clear(s.Normal)
	clear(s.mean)
	clear(s.form.A)
}

// Add adds a chart, as [Chart.Store] has written it, at its point nearest to x.
func (s *Shape) Add(stored, x []float64, weight float64) bool {
	c := s.chart
	c.place(stored, x)
	c.differentiate(c.t)
	copy(s.axes, c.jac)
	copy(s.dual, c.jac)
	if !c.metric() || !dense.OrthonormalizeRows(s.axes, c.D) {
		return false
	}
	dense.SolveCholeskyRows(s.dual, c.h, c.d, c.D)
	if c.d < c.D-1 {
		s.addMean(weight)
	} else {
		s.addForm(weight)
	}
	return true
}

// addForm adds the normal of the current chart and the second derivatives along it, with the sign of the first
// normal.
func (s *Shape) addForm(weight float64) {
	c := s.chart
	Complement(s.normal, s.axes)
	if !s.begun {
		copy(s.face, s.normal)
		s.begun = true
	}
	cosine := dense.Dot(s.normal, s.face)
	if math.Abs(cosine) < sameFace {
		return
	}
	s.total += weight
	weight = math.Copysign(weight, cosine)
	floats.AddScaled(s.Normal, weight, s.normal)
	c.eachProduct(s.dual, func(u, v, second []float64) {
		f := weight * dense.Dot(second, s.normal)
		for i := range u {
			to := s.form.A[i*c.D : (i+1)*c.D]
			floats.AddScaled(to, f*u[i], v)
			floats.AddScaled(to, f*v[i], u)
		}
	})
}

// addMean adds the mean curvature vector of the current chart: the normal part of the trace of its second
// derivatives.
func (s *Shape) addMean(weight float64) {
	c := s.chart
	clear(s.normal)
	c.eachProduct(s.dual, func(u, v, second []float64) {
		floats.AddScaled(s.normal, 2*dense.Dot(u, v)/float64(c.d), second)
	})
	for a := range c.d {
		axis := s.axes[a*c.D : (a+1)*c.D]
		floats.AddScaled(s.normal, -dense.Dot(axis, s.normal), axis)
	}
	s.total += weight
	floats.AddScaled(s.mean, weight, s.normal)
}

// eachProduct calls work for the coefficients of t_i t_j, i <= j, with rows i and j.
func (c *Surface) eachProduct(rows []float64, work func(u, v, coefficients []float64)) {
	at := 1 + c.d
	for i := range c.d {
		for j := i; j < c.d; j++ {
			work(rows[i*c.D:(i+1)*c.D], rows[j*c.D:(j+1)*c.D], c.b[at*c.D:(at+1)*c.D])
			at++
		}
	}
}

// Curvature returns the mean curvature, positive if the surface bends away from the normal, and normalises the
// normal. It fills principal, of length d, with the principal curvatures, the largest first. If d < D-1 it returns
// the length of the mean curvature vector.
func (s *Shape) Curvature(principal []float64) (mean float64) {
	if !(s.total > 0) {
		return 0
	}
	if s.chart.d < s.chart.D-1 {
		return math.Sqrt(dense.Dot(s.mean, s.mean)) / s.total
	}
	dense.Scale(s.Normal, 1/math.Sqrt(dense.Dot(s.Normal, s.Normal)))
	if !s.form.Factorize() {
		return 0
	}
	flat := 0 // the direction of the normal, in which nothing bends
	for k, v := range s.form.Values {
		if math.Abs(v) < math.Abs(s.form.Values[flat]) {
			flat = k
		}
	}
	at := 0
	for k, v := range s.form.Values { // ascending; of the other sign, descending
		if k == flat {
			continue
		}
		v /= -s.total
		if mean += v / float64(s.chart.d); principal != nil {
			principal[at] = v
		}
		at++
	}
	return mean
}

// place loads a stored chart of any kind. It stores in t the coordinates of its point nearest to x, which must be
// near it.
func (c *Surface) place(stored, x []float64) {
	if c.D == lookup.Space && c.d == c.D-1 {
		c.loadSpace(stored, x)
	} else {
		c.Load(stored)
	}
	floats.SubTo(c.diff, x, c.o)
	for a := range c.d {
		c.t[a] = dense.Dot(c.u[a*c.D:(a+1)*c.D], c.diff) / c.unit
	}
	c.keepWithin()
}

// loadSpace loads what [Space.Store] has written; of a crease, the face that x is on.
func (c *Surface) loadSpace(stored, x []float64) {
	clear(c.b)
	if IsCrease(stored) {
		var k crease
		k.load(stored)
		n := k.normal[k.side((*[lookup.Space]float64)(x))]
		u := perpendicular(&n)
		v := cross(n, u)
		copy(c.o, x)
		copy(c.u, u[:])
		copy(c.u[lookup.Space:], v[:])
		c.unit = 1
		return
	}
	copy(c.o, stored)
	copy(c.u, stored[3:9])
	c.unit = stored[9]
	n := cross([3]float64(c.u), [3]float64(c.u[3:]))
	for i, v := range stored[10 : 10+spaceTerms] {
		floats.AddScaled(c.b[i*lookup.Space:(i+1)*lookup.Space], v*c.unit, n[:])
	}
}

// Complement writes the unit vector at right angles to D-1 orthonormal rows.
func Complement(dst, tangent []float64) {
	D := len(dst)
	best, least := 0, math.Inf(1)
	for j := range D { // the axis that is least within the tangent
		var within float64
		for a := range D - 1 {
			within += tangent[a*D+j] * tangent[a*D+j]
		}
		if within < least {
			best, least = j, within
		}
	}
	clear(dst)
	dst[best] = 1
	for range 2 { // once more against rounding
		for a := range D - 1 {
			axis := tangent[a*D : (a+1)*D]
			floats.AddScaled(dst, -dense.Dot(axis, dst), axis)
		}
		floats.Scale(1/math.Sqrt(dense.Dot(dst, dst)), dst)
	}
}
