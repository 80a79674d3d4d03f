package latent

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// minPrediction is a relative decrease of the cost. A smaller decrease predicted by Newton's method for a direction
// is due to rounding errors.
const minPrediction = 1e-12

// OuterNewtonStep returns the outer coordinates of the undamped Newton step of p from x if the inner rows follow. The
// step is -S^-1 times the reduced gradient, with the Schur complement S of an arrowhead ([ArrowheadHessian]).
// Eigenvalues are replaced by their magnitude. Directions whose predicted reduction is a rounding error are left out,
// such as those along which the cost is constant. It returns false if there are no second derivatives at x, or too
// large ones ([ArrowheadShape.Probeable]).
func OuterNewtonStep(p framework.Problem, x framework.Point) (step []float64, ok bool, err error) {
	a, ok := framework.As[ArrowheadHessian](p)
	if !ok {
		return nil, false, nil
	}
	shape, ok := a.ArrowheadShape()
	if !ok || !shape.Probeable() {
		return nil, false, nil
	}
	s := newProber(shape, p.Blocks())
	cost, _, err := a.AssembleHessian(s.Arrowhead, x)
	if err != nil || math.IsNaN(cost) || math.IsInf(cost, 0) || !s.Finite() || !s.eliminate() {
		return nil, false, err
	}
	step = s.reducedGradient()
	spectral := dense.NewSpectral(len(step))
	if !spectral.Factorize(s.s) {
		return nil, false, nil
	}
	spectral.ToEigen(step)
	for k, w := range spectral.Values {
		c := step[k]
		if w = math.Abs(w); c*c/2 <= minPrediction*math.Abs(cost)*w || w == 0 {
			step[k] = 0
			continue
		}
		step[k] = -c / w
	}
	spectral.FromEigen(step)
	floats.Mul(step, s.scale)
	return step, true, nil
}

// reducedGradient returns the scaled g - sum_i B_i C_i^-1 g_i, for derivatives that were eliminated.
func (p *prober) reducedGradient() []float64 {
	d, n := p.Dim, p.Inner()
	f, g := make([]float64, n), make([]float64, p.Outer)
	for i := range p.Rows {
		for j, v := range p.InnerGrad[i*d : (i+1)*d] {
			for l := range d {
				f[i*d+l] += p.C[(i*d+j)*d+l] * v
			}
		}
	}
	for q := range g {
		g[q] = (p.OuterGrad[q] - floats.Dot(p.B[q*n:(q+1)*n], f)) * p.scale[q]
	}
	return g
}
