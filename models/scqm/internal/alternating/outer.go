package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// outerSteps bounds the alternations of Q and Theta inside one sweep, and
	// coreTolerance is the distance of two Q at which they end.
	outerSteps     = 20
	outerTolerance = 1e-6
	// proximalWeight is how much, relative to the curvature of the objective, the
	// outer step holds Q and Theta back where the rows do not determine them.
	proximalWeight = 1e-12
	// newDirection is the part of a vector outside of a subspace, relative to
	// its length, from which on it is not a rounding error.
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
// and the first Q, so that the alternation runs on matrices of 2d + q + s rows
// and costs no pass over the data.
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
	proximal float64   // the multiple of I in K that holds Theta back
	old      []float64 // q x s: the first Theta, in the unit of 1/h
	theta    []float64 // q x s
	frame    []float64 // m x size: Q in the basis, by columns
	pull     []float64 // m x size: [G_tau, G_phi Theta], by columns
	col      []float64 // q
	polar    *dense.Polar
}

func NewOuter(f *sheet.Sheet, unit float64) *Outer {
	q := forms(f)
	most := min(f.M+f.Latent+q, f.D)
	vec := func(n int) []float64 { return make([]float64, n) }
	return &Outer{
		f: f, q: q, unit: unit, basis: vec(most * f.D), g: vec((f.Latent + q) * most),
		k: vec(q * q), old: vec(q * f.S), theta: vec(q * f.S),
		frame: vec(f.M * most), pull: vec(f.M * most), col: vec(q), polar: dense.NewPolar(f.M, most),
	}
}

// Solve writes c, Q and Theta into next. The moments are used up.
func (o *Outer) Solve(next framework.Point, m *Moments, lambda float64) error {
	f := o.f
	if !(m.weight > 0) { // no row has a say
		copy(next[objective.BlockC], f.C)
		dense.Transpose(next[objective.BlockQ], f.QT, f.M, f.D)
		copy(next[objective.BlockTheta], f.Theta)
		return nil
	}
	m.centre()
	o.factorize(m, lambda)
	o.span(m)
	o.alternate()
	o.write(next, m)
	return nil
}

// factorize prepares K and the scaled Theta.
func (o *Outer) factorize(m *Moments, lambda float64) {
	h2 := o.unit * o.unit
	copy(o.k, m.phi)
	var trace float64
	for a := range o.q {
		// The penalty of Theta / h^2 in the unit that w x phi / h^2 has.
		o.k[a*o.q+a] += lambda / h2 / h2 * sheet.VechWeight(o.f.Latent, a)
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
	floats.ScaleTo(o.old, h2, o.f.Theta)
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
	for j := range m.d + m.q {
		g := o.g[j*o.size : (j+1)*o.size]
		for i := range g {
			g[i] = floats.Dot(o.basis[i*D:(i+1)*D], m.product(j))
		}
	}
}

// removeBasis takes the part of v within the basis away.
func (o *Outer) removeBasis(v []float64) {
	for i := range o.size {
		b := o.basis[i*o.f.D : (i+1)*o.f.D]
		floats.AddScaled(v, -floats.Dot(b, v), b)
	}
}

// alternate leaves the last Q in turn and the Theta for it in theta.
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
	pull := o.pull[:f.M*n]
	copy(pull, o.g[:f.Latent*n])
	for range steps {
		o.leastSquaresTheta()
		o.pullCurvature(pull[f.Latent*n:])
		floats.AddScaled(pull, proximalWeight*floats.Norm(pull, 2), o.frame[:f.M*n])
		moved, ok := o.polar.Factor(o.frame[:f.M*n], pull, n)
		copy(pull, o.g[:f.Latent*n])
		if !ok || moved <= outerTolerance {
			break
		}
	}
	o.leastSquaresTheta()
}

// leastSquaresTheta computes Theta = (K + proximal I)^-1 (G_phi' V + proximal Theta_0), row-major.
func (o *Outer) leastSquaresTheta() {
	s, n := o.f.S, o.size
	for k := range s {
		v := o.frame[(o.f.Latent+k)*n : (o.f.Latent+k+1)*n]
		for a := range o.col {
			g := o.g[(o.f.Latent+a)*n : (o.f.Latent+a+1)*n]
			o.col[a] = floats.Dot(g, v) + o.proximal*o.old[a*s+k]
		}
		dense.SolveCholesky(o.col, o.k, o.q)
		for a, t := range o.col {
			o.theta[a*s+k] = t
		}
	}
}

// pullCurvature computes the columns of G_phi Theta, in the unit of G_tau.
func (o *Outer) pullCurvature(dst []float64) {
	s, n := o.f.S, o.size
	clear(dst)
	for k := range s {
		for a := range o.q {
			floats.AddScaled(dst[k*n:(k+1)*n], o.theta[a*s+k]/o.unit, o.g[(o.f.Latent+a)*n:(o.f.Latent+a+1)*n])
		}
	}
}

// write turns the solution back into the units and coordinates of the problem.
func (o *Outer) write(next framework.Point, m *Moments) {
	f, n := o.f, o.size
	q := next[objective.BlockQ]
	clear(q)
	for j := range f.M {
		for i, t := range o.frame[j*n : (j+1)*n] {
			if t == 0 {
				continue
			}
			for r, b := range o.basis[i*f.D : (i+1)*f.D] {
				q[r*f.M+j] += t * b
			}
		}
	}
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
		for r := range f.D {
			next[objective.BlockC][r] -= z * q[r*f.M+j]
		}
	}
}
