package scqm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// distinctResidual is the size of a typical entry of a residual, relative to the standard deviation of the
// coordinates in the direction in which they vary least, up to which the vertices of rows are distinct. Noise of a
// twentieth of the half-width of a surface in 20 dimensions is .08 to .17 of it, the table of wines has .3 to .4.
const distinctResidual = 1. / 4

// Distinct implements [framework.Exchanger]: it reports whether a typical entry of a residual, which is as far as
// a row's vertices are from each other, is at most a quarter of the standard deviation of tau in the
// direction in which that varies least. Rows of losses without vertices always are distinct.
func (p *Problem) Distinct(x framework.Point) (bool, error) {
	f := p.NewSheet()
	if !nearest.HasVertices(f, p.PlainLoss()) {
		return true, nil
	}
	n, scale, err := p.DualScale(x)
	if err != nil || n == 0 {
		return true, err
	}
	return scale <= distinctResidual*leastDeviation(x[BlockTau], f.Latent, p.Data().Weights), nil
}

// leastDeviation returns the smallest standard deviation of tau, n x d, in any direction; rows have weights, nil for
// all 1.
func leastDeviation(tau []float64, d int, weights []float64) float64 {
	unit := floats.Norm(tau, math.Inf(1))
	n := len(tau) / d
	if unit == 0 || n < 2 {
		return 0
	}
	scaled := make([]float64, len(tau))
	floats.ScaleTo(scaled, 1/unit, tau)
	if weights != nil {
		mean := floats.Sum(weights) / float64(n) // only their ratios count
		weights = slices.Clone(weights)
		floats.Scale(1/mean, weights)
	}
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, mat.NewDense(n, d, scaled), weights)
	covariance.ScaleSym(float64(n-1)/float64(n), &covariance)
	var eigen mat.EigenSym
	if !eigen.Factorize(&covariance, false) {
		return 0
	}
	return unit * math.Sqrt(max(eigen.Values(nil)[0], 0))
}
