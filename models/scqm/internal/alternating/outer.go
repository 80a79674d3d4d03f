package alternating

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// outerSteps bounds the alternations of Q and Theta in one sweep, and coreTolerance is the distance of two
	// Q at which they end.
	outerSteps     = 20
	outerTolerance = 1e-6
	// proximalWeight is the weight, relative to the curvature of the objective, of a proximal term in Q and
	// Theta, for directions that the rows do not determine.
	proximalWeight = 1e-12
	// newDirection is the part of a vector outside of a subspace, relative to its length, below which it counts
	// as rounding error.
	newDirection = 1e-13
)

// Outer minimises over c, Q and Theta the weighted sum of squares
//
//	sum_i w_i |x_i - c - Q z_i|^2 + Lambda sum_k |A_k|_F^2,  z = [tau; Theta' phi],
//
// given its moments. With all moments centred, G_tau = sum w x tau',
// G_phi = sum w x phi' and K = sum w phi phi' + Lambda diag(1 or 1/2), the
// best Theta for a Q and the best linear bound of what is left for that Theta
// give the alternation
//
//	Theta = K^-1 G_phi' V,   Q = polar [G_tau, G_phi Theta],
//
// which never raises the sum: for fixed tau and Theta this is a Procrustes
// problem. Then c = mean(x) - Q mean(z). All Q lie in the span of G_tau, G_phi
// and the first Q, so that the alternation runs on matrices of r = 2d + q + s rows
// and costs no pass over the data. With K = LL' and R = L^-1 G_phi', computed once, G_phi Theta is
// R'(R V).
//
// Source for the Procrustes problem: P. H. Schoenemann, A generalized solution
// of the orthogonal Procrustes problem, Psychometrika 31 (1966) 1-10.
type Outer struct {
	f    *sheet.Sheet // the geometry at which the moments were taken
	q    int          // see forms
	unit float64

	basis    []float64 // up to (m+d+q) x D: orthonormal rows, Q's first
	size     int       // rows of basis
	g        []float64 // (d+q) x size: G_tau and G_phi in the basis
	k        []float64 // q x q: Cholesky factor of K, in the unit of phi / h^2
	proximal float64   // the weight of the proximal term in K
	solved   []float64 // q x size: R
	held     []float64 // q x s: K^-1 proximal Theta_0, in the unit of 1/h
	theta    []float64 // q x s
	bend     []float64 // s x q: (R V)'
	frame    []float64 // m x size: Q in the basis, by columns
	still    []float64 // m x size: what of pull does not depend on Q
	pull     []float64 // m x size: [G_tau, G_phi Theta], by columns
	axes     []float64 // m x D: Q, by columns
	polar    *dense.Polar
}

func NewOuter(f *sheet.Sheet, unit float64) *Outer {
	q := forms(f)
	most := min(f.M+f.Latent+q, f.D)
	vec := func(n int) []float64 { return make([]float64, n) }
	return &Outer{
		f: f, q: q, unit: unit, basis: vec(most * f.D), g: vec((f.Latent + q) * most),
		k: vec(q * q), solved: vec(q * most), bend: vec(q * f.S), held: vec(q * f.S), theta: vec(q * f.S),
		frame: vec(f.M * most), still: vec(f.M * most), pull: vec(f.M * most), axes: vec(f.M * f.D), polar: dense.NewPolar(f.M, most),
	}
}

// Solve writes c, Q and Theta into next. It overwrites the moments.
func (o *Outer) Solve(next framework.Point, m *Moments, penalty objective.Regularizer) error {
	f := o.f
	if !(m.weight > 0) { // all weights are zero
		copy(next[objective.BlockC], f.C)
		dense.Transpose(next[objective.BlockQ], f.QT, f.M, f.D)
		copy(next[objective.BlockTheta], f.Theta)
		return nil
	}
	m.centre()
	o.factorize(m, penalty)
	o.span(m)
	o.alternate()
	o.write(next, m)
	return nil
}

// factorize prepares K and the scaled Theta.
func (o *Outer) factorize(m *Moments, penalty objective.Regularizer) {
	h2 := o.unit * o.unit
	copy(o.k, m.phi)
	var trace float64
	for a := range o.q {
		// The penalty of Theta / h^2 in the unit that w x phi / h^2 has.
		o.k[a*o.q+a] += penalty.PenaltyWeight(o.f.Shape, a) / h2 / h2
		trace += o.k[a*o.q+a]
	}
	o.proximal = proximalWeight * trace / float64(max(o.q, 1))
	if !(trace > 0) {
		o.proximal = 1
	}
	for a := range o.q {
		o.k[a*o.q+a] += o.proximal
	}
	if o.q > 0 {
		dense.FactorCholesky(o.k, o.q, 0, 0) // positive definite by the proximal term
	}
	floats.ScaleTo(o.held, h2*o.proximal, o.f.Theta)
	dense.SolveCholeskyRows(o.held, o.k, o.q, o.f.S)
}

// span builds the basis and expresses G_tau and G_phi in it.
func (o *Outer) span(m *Moments) {
	D := o.f.D
	o.size = o.f.M
	copy(o.basis, o.f.QT)
	most := len(o.basis) / D
	for j := range m.d + m.q {
		if o.size == most {
			break
		}
		v := o.basis[o.size*D : (o.size+1)*D]
		copy(v, m.product(j))
		length := floats.Norm(v, 2)
		if !(length > 0) {
			continue
		}
		floats.Scale(1/length, v)
		o.removeBasis(v)
		if rest := floats.Norm(v, 2); rest > newDirection {
			floats.Scale(1/rest, v)
			o.removeBasis(v)
			floats.Scale(1/floats.Norm(v, 2), v)
			o.size++
		}
	}
	if axes := m.d + m.q; axes > 0 {
		dense.FrameProducts(o.g, o.size, nil, o.basis, nil, m.yx, o.size, axes, D)
	}
}

// removeBasis subtracts from v its projection on the basis.
func (o *Outer) removeBasis(v []float64) {
	along := o.pull[:o.size]
	dense.FrameProducts(along, 1, nil, v, nil, o.basis, 1, o.size, o.f.D)
	floats.Scale(-1, along)
	dense.AddRowProduct(v, along, o.basis, 1, o.size, o.f.D)
}

// alternate stores the last Q in turn and its Theta in theta.
func (o *Outer) alternate() {
	f, n := o.f, o.size
	clear(o.frame)
	for j := range f.M {
		o.frame[j*n+j] = 1
	}
	steps := outerSteps
	if f.S == 0 {
		steps = 1 // exact
	}
	o.prepare()
	pull := o.pull[:f.M*n]
	for range steps {
		copy(pull, o.still)
		o.pullCurvature(pull[f.Latent*n:])
		floats.AddScaled(pull, proximalWeight*floats.Norm(pull, 2), o.frame[:f.M*n])
		moved, ok := o.polar.Factor(o.frame[:f.M*n], pull, n)
		if !ok || moved <= outerTolerance {
			break
		}
	}
	o.leastSquaresTheta()
}

// prepare computes the constants of all alternations, in the unit of G_tau.
func (o *Outer) prepare() {
	f, n, q := o.f, o.size, o.q
	g := o.g[f.Latent*n : (f.Latent+q)*n]
	copy(o.solved, g)
	dense.ForwardCholeskyRows(o.solved, o.k, q, n)
	still := o.still[:f.M*n]
	clear(still[copy(still, o.g[:f.Latent*n]):])
	held := still[f.Latent*n:]
	dense.AddProduct(held, o.held, g, q, f.S, n)
	floats.Scale(1/o.unit, held)
	floats.Scale(1/math.Sqrt(o.unit), o.solved[:q*n])
}

// bendFrame computes (R V)', row by row.
func (o *Outer) bendFrame() {
	if o.f.S > 0 {
		dense.FrameProducts(o.bend, o.q, nil, o.solved, nil, o.frame[o.f.Latent*o.size:], o.q, o.f.S, o.size)
	}
}

// pullCurvature adds the columns of R'R V.
func (o *Outer) pullCurvature(dst []float64) {
	o.bendFrame()
	dense.AddRowProduct(dst, o.bend, o.solved, o.f.S, o.q, o.size)
}

// leastSquaresTheta computes Theta = L^-T R V + (K + proximal I)^-1 proximal Theta_0, row-major.
func (o *Outer) leastSquaresTheta() {
	s, q := o.f.S, o.q
	o.bendFrame()
	dense.Transpose(o.theta, o.bend, s, q)
	dense.BackwardCholeskyRows(o.theta, o.k, q, s)
	floats.Scale(math.Sqrt(o.unit), o.theta)
	floats.Add(o.theta, o.held)
}

// write converts the solution to the units and coordinates of the problem.
func (o *Outer) write(next framework.Point, m *Moments) {
	f, n := o.f, o.size
	clear(o.axes)
	dense.AddRowProduct(o.axes, o.frame, o.basis, f.M, n, f.D)
	dense.Transpose(next[objective.BlockQ], o.axes, f.M, f.D)
	floats.ScaleTo(next[objective.BlockTheta], 1/o.unit/o.unit, o.theta)
	floats.AddTo(next[objective.BlockC], f.C, m.x)
	for j := range f.M {
		var z float64 // mean of z_j
		if j < f.Latent {
			z = o.unit * m.y[j]
		} else {
			for a, v := range m.y[f.Latent:] {
				z += v * o.theta[a*f.S+j-f.Latent]
			}
		}
		floats.AddScaled(next[objective.BlockC], -z, o.axes[j*f.D:(j+1)*f.D])
	}
}
