package nearest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Observed finds projections of a row with missing entries. Q_A are the rows of Q for the non-missing entries, and
// Q_B the others. The squared distance in the non-missing entries plus a prior tau'P tau is, up to a constant,
//
//	(z - y)'M(z - y),   M = Q_A'Q_A + P = I - Q_B'Q_B + P,   M y = Q_A'(x - c)_A,
//
// a problem in R^m that no longer involves D; see [Projection].
type Observed struct{ *Projection }

// NewObserved returns an Observed for the sheet f, which may change.
func NewObserved(f *sheet.Sheet) *Observed {
	p := NewProjection(f)
	p.metric = newFrameMetric(f)
	p.Metric = p.metric.whole
	return &Observed{p}
}

// minPrior is added to the diagonal of M, so that y is unique even with too few entries.
const minPrior = 1e-10

// Load sets the row x for Newton steps. For a search for the nearest point, set is used instead.
func (p *Observed) Load(x []float64, prior Prior) {
	f := p.f
	clear(p.Metric)
	for a := range f.M {
		p.Metric[a*f.M+a] = 1 + minPrior
	}
	floats.SubTo(p.diff, x, f.C)
	for j, v := range p.diff {
		if v == v {
			continue
		}
		p.diff[j] = 0
		for a := range f.M {
			for b := range f.M {
				p.Metric[a*f.M+b] -= f.Axis(a)[j] * f.Axis(b)[j]
			}
		}
	}
	f.ToFrame(p.Y, p.diff)
	for i := range f.Latent {
		for j := range f.Latent {
			if prior != nil {
				p.Metric[i*f.M+j] += prior[i*f.Latent+j]
			}
		}
	}
	copy(p.metric.factor, p.Metric)
	factor(p.metric.factor, f.M)
	dense.SolveCholesky(p.Y, p.metric.factor, f.M)
}

// set sets the row x for a search for the nearest point.
func (p *Observed) set(x []float64, prior Prior) {
	p.Load(x, prior)
	p.metric.eliminate(p.f)
}
