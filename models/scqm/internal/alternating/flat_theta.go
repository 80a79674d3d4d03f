package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// FlatTheta sets the least-squares Theta of a point with Theta = 0, from moments at its sheet with the weights of the
// rows. It adjusts c so that the mean stays. It does what [objective.Objective.SolveTheta] does, from sums, and
// overwrites the moments.
func (o *Outer) FlatTheta(x framework.Point, m *Moments, penalty objective.Regularizer) {
	f, d, q := o.f, o.f.Latent, o.q
	if f.S == 0 || !(m.weight() > 0) {
		return
	}
	m.centre()
	gram, right := make([]float64, q*q), make([]float64, f.S*q)
	for a := range q {
		copy(gram[a*q:(a+1)*q], m.pairs(d + a)[d:])
		for j := range f.S {
			right[j*q+a] = floats.Dot(f.Axis(d+j), m.product(d+a))
		}
	}
	objective.ThetaEquations{Gram: gram, Right: right, Mean: m.y[d:], Unit: o.unit}.Solve(x, f, penalty)
}
