package alternating

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// outerSteps bounds the alternations of Q and Theta, and outerHalvings the lengths tried in each.
	outerSteps, outerHalvings = 4, 6
	// outerTolerance is the distance of two Q at which they end.
	outerTolerance = 1e-4
	// proximalWeight is the weight, relative to the curvature of the objective, of a proximal term in Q and
	// Theta, for directions that the rows do not determine.
	proximalWeight = 1e-12
	// centreNoise is the move of c, in units of the data, that is a rounding error of whitened rows: solvers that
	// extrapolate from the moves of all blocks would follow it.
	centreNoise = 0x1p-48
)

// Outer lowers over c, Q and Theta the weighted sum of r'Mr and the penalty, given the moments
// of whitened rows Rx, M = R'R, where M = I for losses of the norm. With all moments centred, G = sum w x z' and S = sum w zz' for
// z = [tau; Theta' phi], that is
//
//	tr(Q'MQ S) - 2 tr(Q'MG) + Lambda sum_k |A_k|_F^2 + a constant.
//
// The best Theta for a Q is that of a linear system, which the eigenvectors of V'MV take apart
// into one of q x q for each column. For a Theta, Q takes a step of Newton's method without the
// curvature of the manifold,
//
//	eta = G S^-1 - Q - M^-1 Q Omega S^-1,   Q'eta + eta'Q = 0,
//
// where the symmetric Omega, from a Lyapunov equation of m x m, keeps it tangent; then comes the
// polar factor of Q + eta, of half the step where that is no lower. An alternation takes about
// 6Dm(m+q) operations, and no pass over the data.
type Outer struct {
	f      *sheet.Sheet
	metric metric
	q      int
	unit   float64

	frame, trial []float64 // m x D: Q
	white        []float64 // m x D: RQ
	inverse      []float64 // m x D: M^-1 Q
	step         []float64 // m x D
	pulled       []float64 // (d+q) x D: sums of w x y', x as they are
	gram         []float64 // m x m: Q'MQ
	cross        []float64 // m x (d+q): Q'M times pulled
	theta, old   []float64 // q x s, in the unit of 1/h
	right        []float64 // s x q
	system       []float64 // q x q
	mixed        []float64 // (d+q) x m: z = mixed' y
	s, factor    []float64 // m x m
	held         float64   // the proximal term: a multiple of I in S, which may be singular
	omega, t, j  []float64 // m x m
	work         []float64 // (d+q) x m
	product      []float64 // m x m
	eigen        *dense.SymmetricEigen
	lyapunov     *lyapunov
	polar        *dense.Polar
}

func newOuter(f *sheet.Sheet, m metric, unit float64) *Outer {
	q := forms(f)
	vec := func(n int) []float64 { return make([]float64, n) }
	long, small := f.M*f.D, f.M*f.M
	return &Outer{
		f: f, metric: m, q: q, unit: unit, frame: vec(long), trial: vec(long), white: vec(long), inverse: vec(long), step: vec(long),
		pulled: vec((f.Latent + q) * f.D), gram: vec(small), cross: vec(f.M * (f.Latent + q)),
		theta: vec(q * f.S), old: vec(q * f.S), right: vec(q * f.S), system: vec(q * q), mixed: vec((f.Latent + q) * f.M),
		s: vec(small), factor: vec(small), omega: vec(small), t: vec(small), j: vec(small), product: vec(small), work: vec((f.Latent + q) * f.M),
		eigen: dense.NewSymmetricEigen(max(f.S, 1)), lyapunov: newLyapunov(f.M), polar: dense.NewPolar(f.M, f.D),
	}
}

// NewOuter prepares for the moments of rows at a sheet under losses of the norm, for rows of length scale unit.
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
	copy(o.pulled, m.yx)
	o.metric.Unwhiten(o.pulled)
	copy(o.frame, f.QT)
	floats.ScaleTo(o.old, o.unit*o.unit, f.Theta[:len(o.old)])
	copy(o.theta, o.old)
	o.alternate(m, penalty)
	o.write(next, m)
}

// alternate leaves the last Q in frame and its Theta in theta.
func (o *Outer) alternate(m *Moments, penalty objective.Regularizer) {
	o.project(o.frame, m)
	for range outerSteps {
		o.solveTheta(m, penalty)
		o.mix(m)
		if !o.direct() || !o.move(m) {
			break
		}
	}
	o.solveTheta(m, penalty)
}

// project computes Q'MQ and Q'M times pulled, for a Q.
func (o *Outer) project(frame []float64, m *Moments) {
	f, k := o.f, o.f.Latent+o.q
	copy(o.white, frame)
	o.metric.Whiten(o.white)
	dense.FrameProducts(o.gram, f.M, nil, o.white, nil, o.white, f.M, f.M, f.D)
	for i := range f.M {
		for j := range i {
			o.gram[i*f.M+j] = o.gram[j*f.M+i]
		}
	}
	if k > 0 {
		dense.FrameProducts(o.cross, k, nil, m.yx, nil, o.white, k, f.M, f.D)
	}
}

// solveTheta computes the best Theta for the Q projected last.
func (o *Outer) solveTheta(m *Moments, penalty objective.Regularizer) {
	f, q, d, s := o.f, o.q, o.f.Latent, o.f.S
	if q == 0 || s == 0 {
		return
	}
	yy, k := m.yy, d+q
	for a := range s {
		copy(o.eigen.A[a*s:(a+1)*s], o.gram[(d+a)*f.M+d:(d+a+1)*f.M])
		for b := range q {
			v := o.cross[(d+a)*k+d+b]
			for i := range d {
				v -= o.unit * yy[(d+b)*k+i] * o.gram[i*f.M+d+a]
			}
			o.right[a*q+b] = v
		}
	}
	o.eigen.FactorizeOrIdentity()
	h4 := o.unit * o.unit * o.unit * o.unit
	for b := range q {
		for a := range s {
			o.theta[b*s+a] = o.right[a*q+b]
		}
	}
	o.turn(o.theta, false)
	old := o.right[:q*s]
	copy(old, o.old)
	o.turn(old, false)
	column := o.work[:q]
	for l, value := range o.eigen.Values {
		var trace float64
		for b := range q {
			for c := range q {
				o.system[b*q+c] = value * yy[(d+b)*k+d+c]
			}
			o.system[b*q+b] += penalty.PenaltyWeight(f.Shape, b) / h4
			trace += o.system[b*q+b]
		}
		proximal := proximalWeight * trace / float64(q)
		if !(trace > 0) {
			proximal = 1
		}
		for b := range q {
			o.system[b*q+b] += proximal
			column[b] = o.theta[b*s+l] + proximal*old[b*s+l]
		}
		dense.FactorCholesky(o.system, q, 0, 0)
		dense.SolveCholesky(column, o.system, q)
		for b, v := range column {
			o.theta[b*s+l] = v
		}
	}
	o.turn(o.theta, true)
}

// turn rotates the rows of x, q x s, to the eigenvectors of V'MV, or back.
func (o *Outer) turn(x []float64, back bool) {
	s, t := o.f.S, blas.NoTrans
	if back {
		t = blas.Trans
	}
	rows := blas64.General{Rows: o.q, Cols: s, Stride: s, Data: x}
	product := blas64.General{Rows: o.q, Cols: s, Stride: s, Data: o.work[:o.q*s]}
	blas64.Gemm(blas.NoTrans, t, 1, rows, square(o.eigen.A, s), 0, product)
	copy(x, product.Data)
}

// mix computes S for the current Theta, and its Cholesky factor.
func (o *Outer) mix(m *Moments) {
	f, d, k := o.f, o.f.Latent, o.f.Latent+o.q
	clear(o.mixed)
	for i := range d {
		o.mixed[i*f.M+i] = o.unit
	}
	for b := range o.q {
		copy(o.mixed[(d+b)*f.M+d:(d+b+1)*f.M], o.theta[b*f.S:(b+1)*f.S])
	}
	b := blas64.General{Rows: k, Cols: f.M, Stride: f.M, Data: o.mixed}
	product := blas64.General{Rows: k, Cols: f.M, Stride: f.M, Data: o.work}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, square(m.yy, k), b, 0, product)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, b, product, 0, square(o.s, f.M))
	var trace float64
	for i := range f.M {
		trace += o.s[i*f.M+i]
	}
	if o.held = proximalWeight * trace / float64(f.M); !(trace > 0) {
		o.held = 1
	}
	for i := range f.M {
		o.s[i*f.M+i] += o.held
	}
	copy(o.factor, o.s)
	dense.FactorCholesky(o.factor, f.M, 0, 0)
}

// direct writes eta into step, and reports false where there is none.
func (o *Outer) direct() bool {
	f, m, k := o.f, o.f.M, o.f.Latent+o.q
	dense.Transpose(o.work, o.mixed, k, m)
	dense.SolveCholeskyRows(o.work, o.factor, m, k)
	clear(o.step)
	dense.AddRowProduct(o.step, o.work, o.pulled, m, k, f.D) // G S^-1
	clear(o.t)
	for i := range m {
		o.t[i*m+i] = 1
	}
	dense.SolveCholeskyRows(o.t, o.factor, m, m) // S^-1
	copy(o.product, o.t)
	floats.Scale(o.held, o.product)
	for i := range m {
		o.product[i*m+i]--
	}
	dense.AddRowProduct(o.step, o.product, o.frame, m, m, f.D)

	copy(o.inverse, o.frame)
	o.metric.Unwhiten(o.inverse)
	dense.FrameProducts(o.j, m, nil, o.inverse, nil, o.inverse, m, m, f.D) // Q'M^-1 Q
	o.metric.Unwhiten(o.inverse)
	if !dense.FactorCholesky(o.j, m, 0, 0) {
		return false
	}
	dense.InvertTransposed(o.j, m)
	dense.FrameProducts(o.omega, m, nil, o.step, nil, o.frame, m, m, f.D)
	for i := range m {
		for l := range i + 1 {
			v := o.omega[i*m+l] + o.omega[l*m+i]
			o.omega[i*m+l], o.omega[l*m+i] = v, v
		}
	}
	o.conjugate(o.omega, o.omega, blas.Trans)
	o.conjugate(o.t, o.t, blas.Trans)
	if !o.lyapunov.solve(o.omega, o.t) {
		return false
	}
	o.conjugate(o.omega, o.omega, blas.NoTrans)
	dense.SolveCholeskyRows(o.omega, o.factor, m, m) // S^-1 Omega
	floats.Scale(-1, o.omega)
	dense.AddRowProduct(o.step, o.omega, o.inverse, m, m, f.D)
	return true
}

// conjugate writes J'XJ, or JXJ'.
func (o *Outer) conjugate(dst, x []float64, first blas.Transpose) {
	m, last := o.f.M, blas.NoTrans
	if first == blas.NoTrans {
		last = blas.Trans
	}
	blas64.Gemm(first, blas.NoTrans, 1, square(o.j, m), square(x, m), 0, square(o.product, m))
	blas64.Gemm(blas.NoTrans, last, 1, square(o.product, m), square(o.j, m), 0, square(dst, m))
}

// value is the sum of squares for the Q projected last and the S mixed last, less a constant.
func (o *Outer) value() float64 {
	k := o.f.Latent + o.q
	sum := floats.Dot(o.gram, o.s)
	for i := range o.f.M {
		for j := range k {
			sum -= 2 * o.cross[i*k+j] * o.mixed[j*o.f.M+i]
		}
	}
	return sum
}

// move goes to the polar factor of Q + eta, or of a fraction of eta, and reports whether to continue.
func (o *Outer) move(m *Moments) bool {
	before := o.value()
	for range outerHalvings {
		floats.AddTo(o.trial, o.frame, o.step)
		if !o.polar.Orthonormalize(o.trial, o.f.D) {
			break
		}
		o.project(o.trial, m)
		if o.value() <= before {
			far := dense.Distance(o.trial, o.frame)
			o.frame, o.trial = o.trial, o.frame
			return far > outerTolerance
		}
		floats.Scale(0.5, o.step)
	}
	o.project(o.frame, m)
	return false
}

// write converts the solution to the units of the problem.
func (o *Outer) write(next framework.Point, m *Moments) {
	f := o.f
	dense.Transpose(next[objective.BlockQ], o.frame, f.M, f.D)
	floats.ScaleTo(next[objective.BlockTheta][:len(o.theta)], 1/o.unit/o.unit, o.theta)
	c := next[objective.BlockC]
	copy(c, m.x)
	o.metric.Unwhiten(c)
	floats.Add(c, f.C)
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
