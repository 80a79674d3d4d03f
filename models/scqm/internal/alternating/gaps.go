package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// gaps fills the missing entries of rows in a sweep under squared_l2. For a row with the
// entries A its tau is improved in |f_A(tau) - x_A|^2 + tau'P tau; with f(tau) in place of
// what is missing the squared distance of the whole row is that of A, and an upper bound of
// it for any other sheet. So the next c, Q and Theta, of the filled rows, lower the cost.
//
// Source: A. Dempster, N. Laird, D. Rubin, Journal of the Royal Statistical Society B 39
// (1977) 1-38, of whose algorithm this is the form for most likely tau.
type gaps struct {
	prior nearest.Prior

	f       *sheet.Sheet
	newton  *nearest.Quadratic
	partial []int     // the rows of the batch with missing entries
	tau     []float64 // of these
	costs   []float64 // of these: with the prior
	filled  []float64 // of the batch
	r       []float64 // D
}

func newGaps(f *sheet.Sheet, most int) *gaps {
	g := &gaps{f: f, newton: nearest.NewQuadratic(f), filled: make([]float64, most*f.D), r: make([]float64, f.D)}
	g.newton.Metric, g.newton.Linear = make([]float64, f.M*f.M), make([]float64, f.M)
	return g
}

// fillsGaps reports whether sweeps serve an objective with missing entries.
func fillsGaps(o *objective.Objective) bool {
	_, squares := nearest.OfCompleteRows(o.PlainLoss()).(framework.Radial)
	return o.Data().Missing && squares
}

// fill improves tau of the rows with missing entries and returns all rows filled.
func (g *gaps) fill(x, tau []float64) []float64 {
	D, d := g.f.D, g.f.Latent
	filled := g.filled[:len(x)]
	copy(filled, x)
	g.partial, g.tau, g.costs = g.partial[:0], g.tau[:0], g.costs[:0]
	for i := range len(x) / D {
		if row, at := filled[i*D:(i+1)*D], tau[i*d:(i+1)*d]; rows.Incomplete(row) {
			g.partial, g.costs = append(g.partial, i), append(g.costs, g.fillRow(row, at))
			g.tau = append(g.tau, at...)
		}
	}
	return filled
}

// fillRow is fill for one row, and returns its cost.
func (g *gaps) fillRow(x, tau []float64) float64 {
	f, q := g.f, g.newton
	f.Deviation(g.r, x)
	clear(q.Metric)
	clear(q.Linear)
	for i := range f.M {
		q.Metric[i*f.M+i] = 1
	}
	for j, r := range g.r {
		for a := range f.M {
			u := f.Axis(a)[j]
			if r == r {
				q.Linear[a] += u * r
				continue
			}
			for b := range f.M {
				q.Metric[a*f.M+b] -= u * f.Axis(b)[j]
			}
		}
	}
	for i := range f.Latent {
		if g.prior != nil {
			floats.Add(q.Metric[i*f.M:i*f.M+f.Latent], g.prior[i*f.Latent:(i+1)*f.Latent])
		}
	}
	q.Minimize(tau, sweepSteps, sweepPrecision)
	cost := g.prior.Value(tau)
	for a, v := range q.E { // z, as y = 0
		dense.AddScaled(g.r, v, f.Axis(a))
	}
	for _, r := range g.r {
		if r == r {
			cost += r * r
		}
	}
	g.complete(x, q.E)
	return cost
}

// complete writes f for z in place of what is missing.
func (g *gaps) complete(x, z []float64) {
	for j, v := range x {
		if v != v {
			x[j] = g.f.C[j]
			for a, v := range z {
				x[j] += v * g.f.Axis(a)[j]
			}
		}
	}
}

// restore gives the rows with missing entries the tau that fill left, and their costs.
func (g *gaps) restore(costs, tau []float64) {
	d := g.f.Latent
	for k, i := range g.partial {
		costs[i] = g.costs[k]
		copy(tau[i*d:(i+1)*d], g.tau[k*d:(k+1)*d])
	}
}
