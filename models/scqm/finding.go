package scqm

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// curvatureShare is how much of the noise across the sheet, in logarithms, a start
// must save for the curvature that it adds: a sixth of that in one direction for
// twice as much curvature.
const curvatureShare = 0.25

// finding is what runs from several starts are compared by: one that is folded is
// worse than one that is not; of two that are not, the one of lower
//
//	F (1 + k)^(1/4a)
//
// is better, with F the cost, k the curvature times extent and a the number of
// directions off the sheet, and of two that are the one of lower k. F alone would
// not do: a fold runs near every row, held out or not, wherever noise is as wide as
// the sheet is bent.
type finding struct{ cost, curvature, across float64 }

func (a finding) folded() bool { return a.curvature > foldedCurvature }

// beats reports whether a is better than b.
func (a finding) beats(b finding) bool {
	switch {
	case a.folded() != b.folded():
		return b.folded()
	case a.folded():
		return a.curvature < b.curvature
	}
	return a.score() < b.score()
}

// compare is negative where a is better than b.
func (a finding) compare(b finding) int {
	switch {
	case a.beats(b):
		return -1
	case b.beats(a):
		return 1
	}
	return 0
}

func (a finding) score() float64 { return a.cost * math.Pow(1+a.curvature, curvatureShare/a.across) }

// finding judges the point of a run.
func (p *Problem) finding(run *framework.Result) finding {
	m := p.model(run.Point)
	x, d := p.Data(), p.Shape().Latent
	return finding{run.Cost, m.CurvatureExtent(m.Tau, x.Weights), float64(max(1, min(x.D, x.N-1)-d))}
}
