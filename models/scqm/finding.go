package scqm

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// curvatureShare is the least decrease of the logarithm of the noise off the sheet that justifies a start with more
// curvature: a sixth of the noise, in one direction, for twice the curvature.
const curvatureShare = 0.25

// finding is the criterion that ranks the runs from several starts. A folded sheet ranks below any unfolded one. Of
// two unfolded sheets, the one with the lower value of
//
//	F (1 + k)^(1/4a)
//
// is better. F is the cost, k the curvature times extent, and a the number of directions off the sheet. Of two folded
// sheets, the one with the lower k is better. F alone would prefer folds: if the noise is as wide as the curvature of
// the sheet, a folded sheet passes near every row, held out or not.
type finding struct{ cost, curvature, across float64 }

func (a finding) folded() bool { return a.curvature > foldedCurvature }

// beats reports whether the fit of a is better than that of b.
func (a finding) beats(b finding) bool {
	switch {
	case a.folded() != b.folded():
		return b.folded()
	case a.folded():
		return a.curvature < b.curvature
	}
	return a.score() < b.score()
}

// compare returns a negative number if a is better than b, and a positive number if b is better.
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

// finding returns the criterion for the point of a run.
func (p *Problem) finding(run *framework.Result) finding {
	m := p.model(run.Point)
	x := p.Data()
	return newFinding(run.Cost, m.CurvatureExtent(m.Tau, x.Weights), x.N, x.D, m.Latent)
}

// newFinding returns the criterion for a fit of n rows of length D by a sheet of dimension d.
func newFinding(cost, curvature float64, n, D, d int) finding {
	return finding{cost, curvature, float64(max(1, min(D, n-1)-d))}
}
