package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// FlatTheta sets Theta of a point with Theta = 0 by least squares, from moments at its sheet with the weights
// of the rows, and adjusts c so that the mean stays: [objective.Objective.SolveTheta] from sums. Axes that are
// flat, by their number among the m, count as 0. It overwrites the moments.
func (o *Outer) FlatTheta(x framework.Point, m *Moments, flat []bool, penalty objective.Regularizer) {
	f := o.f
	if f.S == 0 || !(m.weight > 0) {
		return
	}
	m.centre()
	o.dropFlat(m, flat)
	right := make([]float64, f.S*o.q)
	for j := range f.S {
		for a := range o.q {
			right[j*o.q+a] = floats.Dot(f.Axis(f.Latent+j), m.product(f.Latent+a))
		}
	}
	objective.ThetaEquations{Gram: m.phi, Right: right, Mean: m.y[f.Latent:], Flat: flat, Unit: o.unit}.Solve(x, f, penalty)
}

// dropFlat removes the features of flat axes.
func (o *Outer) dropFlat(m *Moments, flat []bool) {
	a := 0
	for i := range o.f.Latent {
		for j := i; j < o.f.Latent; j++ {
			if flat[i] || flat[j] {
				clear(m.phi[a*o.q : (a+1)*o.q])
				for b := range o.q {
					m.phi[b*o.q+a] = 0
				}
				clear(m.product(o.f.Latent + a))
				m.y[o.f.Latent+a] = 0
			}
			a++
		}
	}
}
