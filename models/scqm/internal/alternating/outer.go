package alternating

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// proximalWeight is the weight, relative to the curvature of the objective, of a proximal term in Q and Theta, for
// directions that the rows do not determine.
const proximalWeight = 1e-12

// centreNoise is the move of c, in units of the data, that counts as a rounding error of whitened rows. Solvers that
// extrapolate from the moves of all blocks would otherwise amplify it.
const centreNoise = 0x1p-48

// Outer lowers the weighted sum of |r|^2 plus the penalty over c, Q and Theta, given the moments of rows. With
// centred moments, G = sum w x z' and z = [tau; Theta' phi], it is
//
//	Lambda sum_k |A_k|_F^2 - 2 tr(Q'G) + sum w |z|^2 + a constant.
//
// The columns of the best Theta for a Q solve one linear system of q x q, and the best Q for a Theta is the polar
// factor of G. Solve computes Theta, Q, and Theta again, in about 4Dm(d+q) operations and no pass over the data.
//
// Under r'Mr with diagonal M the moments are those of whitened rows Rx, M = R'R. The centred sum is replaced by a
// bound that touches it at the current sheet. With r_0 the residuals at this sheet and l the largest entry of M,
//
//	r'Mr <= l |r - (I - M/l) r_0|^2 + a constant.
//
// Source: H. A. L. Kiers, Majorization as a tool for optimizing a class of matrix functions, Psychometrika 55 (1990).
type Outer struct {
	f      *sheet.Sheet
	metric metric
	q      int
	unit   float64

	frame      []float64 // m x D: Q
	product    []float64 // m x D: G
	images     []float64 // (d+q) x D: sums of w y z_0'Q', z_0 at the current sheet
	theta, old []float64 // q x s, in the unit of 1/h
	system     []float64 // q x q
	mixed      []float64 // (d+q) x m: z = mixed' y
	sums       []float64 // (d+q) x m: of w y z'
	column     []float64 // q
	nearest    *dense.NearestOrthonormal
}

func newOuter(f *sheet.Sheet, m metric, unit float64) *Outer {
	q := forms(f)
	k := f.Latent + q
	vec := func(n int) []float64 { return make([]float64, n) }
	return &Outer{
		f: f, metric: m, q: q, unit: unit, frame: vec(f.M * f.D), product: vec(f.M * f.D), images: vec(k * f.D),
		theta: vec(q * f.S), old: vec(q * f.S), system: vec(q * q), mixed: vec(k * f.M), sums: vec(k * f.M), column: vec(q),
		nearest: dense.NewNearestOrthonormal(f.M, f.D),
	}
}

// NewOuter prepares for moments of rows at the sheet f under losses of the norm. unit is the length scale h.
func NewOuter(f *sheet.Sheet, unit float64) *Outer { return newOuter(f, nil, unit) }

// Solve writes c, Q and Theta into next. It overwrites the moments.
func (o *Outer) Solve(next framework.Point, m *Moments, penalty objective.Regularizer) {
	f := o.f
	if !(m.weight() > 0) { // all weights are zero
		copy(next[objective.BlockC], f.C)
		dense.Transpose(next[objective.BlockQ], f.QT, f.M, f.D)
		copy(next[objective.BlockTheta], f.Theta)
		return
	}
	m.centre()
	copy(o.frame, f.QT)
	floats.ScaleTo(o.old, o.unit*o.unit, f.Theta[:len(o.old)])
	copy(o.theta, o.old)
	if o.metric != nil {
		o.majorize(m)
	}
	o.solveTheta(m, penalty)
	o.solveFrame(m)
	o.solveTheta(m, penalty)
	o.write(next, m)
}

// majorize replaces the centred moments of whitened rows by those of the bound, with weights times l.
func (o *Outer) majorize(m *Moments) {
	o.mix()
	o.sum(m)
	clear(o.images)
	dense.AddRowProduct(o.images, o.sums, o.frame, m.k, o.f.M, o.f.D)
	most := floats.Max(o.metric)
	most *= most
	for i, v := range o.images {
		r := o.metric[i%o.f.D]
		m.yx[i] = r*m.yx[i] + (most-r*r)*v
	}
	floats.Scale(most, m.yy)
	o.metric.Unwhiten(m.x)
}

// mix writes the matrix that maps the regressors y to z for the current Theta.
func (o *Outer) mix() {
	f, d := o.f, o.f.Latent
	clear(o.mixed)
	for i := range d {
		o.mixed[i*f.M+i] = o.unit
	}
	for b := range o.q {
		copy(o.mixed[(d+b)*f.M+d:(d+b+1)*f.M], o.theta[b*f.S:(b+1)*f.S])
	}
}

// sum computes the sums of w y z' for the matrix that mix wrote last.
func (o *Outer) sum(m *Moments) {
	clear(o.sums)
	dense.AddRowProduct(o.sums, m.yy, o.mixed, m.k, m.k, o.f.M)
}

// solveTheta computes the best Theta for the current Q.
func (o *Outer) solveTheta(m *Moments, penalty objective.Regularizer) {
	f, q, d := o.f, o.q, o.f.Latent
	if len(o.theta) == 0 {
		return
	}
	h4 := o.unit * o.unit * o.unit * o.unit
	var trace float64
	for b := range q {
		row := o.system[b*q : (b+1)*q]
		copy(row, m.pairs(d + b)[d:])
		row[b] += penalty.PenaltyWeight(f.Shape, b) / h4
		trace += row[b]
	}
	proximal := proximalWeight * trace / float64(q)
	if !(trace > 0) {
		proximal = 1
	}
	for b := range q {
		o.system[b*q+b] += proximal
	}
	dense.FactorCholesky(o.system, q, 0, 0)
	for l := range f.S {
		axis := o.frame[(d+l)*f.D : (d+l+1)*f.D]
		for b := range q {
			o.column[b] = dense.Dot(axis, m.product(d+b)) + proximal*o.old[b*f.S+l]
		}
		dense.SolveCholesky(o.column, o.system, q)
		for b, v := range o.column {
			o.theta[b*f.S+l] = v
		}
	}
}

// solveFrame computes the best Q for the current Theta. It is the matrix with orthonormal columns that is nearest to G
// plus a proximal term.
func (o *Outer) solveFrame(m *Moments) {
	f := o.f
	o.mix()
	clear(o.product)
	for j := range m.k {
		for i, v := range o.mixed[j*f.M : (j+1)*f.M] {
			if v != 0 {
				dense.AddScaled(o.product[i*f.D:(i+1)*f.D], v, m.product(j))
			}
		}
	}
	size := dense.Norm(o.product)
	if math.IsNaN(size) || math.IsInf(size, 0) {
		return
	}
	held := proximalWeight * size
	if size == 0 {
		held = 1
	}
	dense.AddScaled(o.product, held, o.frame)
	o.nearest.Factor(o.frame, o.product)
}

// write converts the solution to the units of the problem.
func (o *Outer) write(next framework.Point, m *Moments) {
	f := o.f
	dense.Transpose(next[objective.BlockQ], o.frame, f.M, f.D)
	floats.ScaleTo(next[objective.BlockTheta][:len(o.theta)], 1/o.unit/o.unit, o.theta)
	c := next[objective.BlockC]
	floats.AddTo(c, f.C, m.x)
	for j := range f.M {
		var z float64 // mean of z_j
		if j < f.Latent {
			z = o.unit * m.y[j]
		} else {
			for a, v := range m.y[f.Latent:] {
				z += v * o.theta[a*f.S+j-f.Latent]
			}
		}
		floats.AddScaled(c, -z, o.frame[j*f.D:(j+1)*f.D])
	}
	if o.metric != nil && floats.Distance(c, f.C, math.Inf(1)) <= centreNoise*o.unit {
		copy(c, f.C)
	}
}
