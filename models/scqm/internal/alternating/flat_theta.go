package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// FlatTheta moves a point with Theta = 0, at whose sheet moments with the weights of the
// rows were summed, to the Theta of least squares, and c by what that adds to the mean:
// [objective.Objective.SolveTheta] from sums. Axes that are flat, by their number among
// the m, count as 0. Where the penalty would be above most, the point stays. The moments
// are used up.
func (o *Outer) FlatTheta(x framework.Point, m *Moments, flat []bool, lambda, most float64) {
	f := o.f
	if f.S == 0 || !(m.weight > 0) {
		return
	}
	m.centre()
	o.dropFlat(m, flat)
	dense.JitteredCholesky(m.phi, o.q)
	theta, column, penalty := make([]float64, o.q*f.S), make([]float64, o.q), 0.0
	for j := range f.S {
		if flat[f.Latent+j] {
			continue
		}
		for a := range column {
			column[a] = floats.Dot(f.Axis(f.Latent+j), m.product(f.Latent+a))
		}
		dense.SolveCholesky(column, m.phi, o.q)
		for a, v := range column {
			v /= o.unit * o.unit
			theta[a*f.S+j] = v
			penalty += lambda * sheet.VechWeight(f.Latent, a) * v * v
		}
	}
	if most > 0 && penalty > most {
		return
	}
	copy(x[objective.BlockTheta], theta)
	for j := range f.S {
		var mean float64
		for a, v := range m.y[f.Latent:] {
			mean += v * o.unit * o.unit * theta[a*f.S+j]
		}
		floats.AddScaled(x[objective.BlockC], -mean, f.Axis(f.Latent+j))
	}
}

// dropFlat takes out the features of flat axes.
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
