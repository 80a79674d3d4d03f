package blocks

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// pureSteps bounds the Newton steps of a row at one length of rounding, and
	// pureDecrease is the decrease of its loss, relative to it, after which the next
	// one would be next to nothing.
	pureSteps, pureDecrease = 12, 1e-9
	// pureTries bounds the lengths tried in a step.
	pureTries = 20
	// pureFactor is what the length of rounding is multiplied by from the scale down to
	// the one asked for, and pureLast the last one, relative to the scale, where none
	// is asked for.
	pureFactor, pureLast = 0.1, 1e-6
)

func newRounding(n, d int) *nearest.General {
	g := nearest.NewGeneral(n, d)
	g.Steps, g.Tries, g.Decrease = pureSteps, pureTries, pureDecrease
	return g
}

// eliminate moves tau from the nearest points in the Euclidean norm, which are those of
// a radial loss, to the minima of the loss nearby. Kinks are rounded less and less, from
// the scale on: the result is a function of the row, the sheet and two lengths.
func (o *blockObjective) eliminate(r *Request, loss framework.Loss) error {
	if framework.StructureOf(loss) == framework.StructureRadial {
		return nil
	}
	if _, kinks := loss.(framework.Smoother); !kinks || r.Scale == 0 {
		return o.descend(r, 0)
	}
	last := r.Eps
	if last == 0 {
		last = pureLast * r.Scale
	}
	for eps := r.Scale; eps > last; eps *= pureFactor {
		if err := o.descend(r, eps); err != nil {
			return err
		}
	}
	return o.descend(r, last)
}

// descend minimises the loss rounded over eps from tau, in place.
func (o *blockObjective) descend(r *Request, eps float64) error {
	o.Smooth(eps)
	defer o.Smooth(0)
	at := r.point(nil)
	_, err := o.newton.Minimize(o.tau, func(to nearest.RowResults, tau []float64, list []int) error {
		at[len(at)-1] = tau
		return o.EvaluateInto(to, at, len(at)-1, list)
	})
	return err
}

// metricProjection is tau of the point nearest to a row in the metric of a loss r'Mr on
// the flat sheet, (U'MU)^-1 U'M (x - c). Where the metric is far from round, that is
// nearer to the minimum than the nearest point in the Euclidean norm.
type metricProjection struct {
	factor []float64 // Cholesky's, of U'MU
	um     []float64 // d x D: U'M
}

// newMetricProjection returns nothing for other losses.
func newMetricProjection(f *sheet.Sheet, loss framework.Loss) *metricProjection {
	l, ok := loss.(framework.Quadratic)
	if !ok {
		return nil
	}
	m, d := l.Matrix(), f.Latent
	p := &metricProjection{factor: make([]float64, d*d), um: make([]float64, d*f.D)}
	for j := range d {
		for k, u := range f.Axis(j) {
			floats.AddScaled(p.um[j*f.D:(j+1)*f.D], u, m[k*f.D:(k+1)*f.D])
		}
	}
	for i := range d {
		for j := range d {
			p.factor[i*d+j] = floats.Dot(p.um[i*f.D:(i+1)*f.D], f.Axis(j))
		}
	}
	dense.JitteredCholesky(p.factor, d)
	return p
}

// project writes tau for diff = x - c.
func (p *metricProjection) project(tau, diff []float64) {
	for j := range tau {
		tau[j] = floats.Dot(p.um[j*len(diff):(j+1)*len(diff)], diff)
	}
	dense.SolveCholesky(tau, p.factor, len(tau))
}

// begin takes for every row the better one of its tau and another.
func (o *blockObjective) begin(r *Request, other []float64) error {
	d := r.Latent
	costs := make([]float64, 2*o.n)
	for k, tau := range [][]float64{o.tau, other} {
		at := r.point(tau)
		if err := o.EvaluateInto(nearest.RowResults{Costs: costs[k*o.n : (k+1)*o.n]}, at, len(at)-1, nil); err != nil {
			return err
		}
	}
	for i := range o.n {
		if costs[o.n+i] < costs[i] {
			copy(o.tau[i*d:(i+1)*d], other[i*d:])
		}
	}
	return nil
}
