package scqm

import (
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// observedRow is the squared distance of a row from the sheet, as a function of tau, with a Gaussian prior. Only the
// non-missing entries A count. M is Q_A'Q_A, computed as I - Q_B'Q_B with B the missing entries; b is -Q_A'(x - c)_A.
type observedRow struct {
	*nearest.Quadratic
	f     *sheet.Sheet
	there []int     // A: whether an entry is not missing
	diff  []float64 // D: c - x, 0 at missing entries
}

func newObservedRow(f *sheet.Sheet, prior, mean []float64) *observedRow {
	p := &observedRow{Quadratic: nearest.NewQuadratic(f), f: f, diff: make([]float64, f.D)}
	p.Metric, p.Linear = make([]float64, f.M*f.M), make([]float64, f.M)
	p.Prior, p.PriorMean = prior, mean
	return p
}

// load sets the row x whose distance is minimised.
func (p *observedRow) load(x []float64) {
	f := p.f
	clear(p.Metric)
	for a := range f.M {
		p.Metric[a*f.M+a] = 1
	}
	p.there = p.there[:0]
	for j, v := range x {
		if v == v {
			p.there, p.diff[j] = append(p.there, j), f.C[j]-v
			continue
		}
		p.diff[j] = 0
		for a := range f.M {
			u := f.Axis(a)[j]
			for b := range f.M {
				p.Metric[a*f.M+b] -= u * f.Axis(b)[j]
			}
		}
	}
	f.ToFrame(p.Linear, p.diff)
}

// nearest sets tau to the minimum near the best of the candidates places, k x d.
func (p *observedRow) nearest(tau, places []float64, steps int, precision float64) {
	d := p.f.Latent
	best, value := places[:d], p.Value(places[:d])
	for at := d; at < len(places); at += d {
		if v := p.Value(places[at : at+d]); v < value {
			best, value = places[at:at+d], v
		}
	}
	copy(tau, best)
	p.Minimize(tau, steps, precision)
}

// residual returns the error of entry j of x at the last coordinates that were minimised or evaluated.
func (p *observedRow) residual(x []float64, j int) float64 {
	e := x[j] - p.f.C[j]
	for a, v := range p.E {
		e -= v * p.f.Axis(a)[j]
	}
	return e
}
