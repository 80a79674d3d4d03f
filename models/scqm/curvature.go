package scqm

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// Three measures show that a sheet folds. The first is its curvature times the extent of the coordinates. Above
	// foldedCurvature, rows near each other may have coordinates far apart, and the fit is ranked below one without
	// folds. Above runawayCurvature, the sheet overfits single rows. In fits to real tables, 44 % exceed
	// runawayCurvature without a ridge, and none with a ridge of 0.001 or more.
	foldedCurvature, runawayCurvature = 8, 100
	// The second is the slope of the regression of the rows on the fitted curvature: .5 to 1 for true curvature, 0 to
	// .2 for folds. Above keptSlope the curvature is kept. Below foldedSlope, a sheet whose curvature the caller has
	// set is reported to fold.
	keptSlope, foldedSlope = 0.85, 0.3
	// The third is [objective.Growing]. extentQuantile is the quantile of the distances that defines the extent.
	extentQuantile = 0.95
)

// CurvatureExtent returns the curvature of the sheet in units of one over its extent, A R. A is the root of the
// largest eigenvalue of sum_k A_k^2. R is the 0.95 quantile of |tau_i - t|, and t is the geometric median of the rows
// of tau (n x d), with weights (nil: all 1). The value depends neither on the unit of the data nor on a rotation of
// tau.
//
// A value up to about 1 is slight curvature. Above 8 the sheet is likely to be folded: rows near each other may have
// coordinates far apart. Above 100 it overfits single rows.
func (m *Model) CurvatureExtent(tau, weights []float64) float64 {
	forms := sheet.Sheet{Shape: sheet.Shape{Latent: m.Latent, S: m.Curvature, Q: sheet.VechLen(m.Latent)}, Theta: m.Theta}
	curvature := forms.RootSquareNorm()
	if curvature == 0 || len(tau) == 0 {
		return 0
	}
	x := rows.Data{N: len(tau) / m.Latent, D: m.Latent, X: tau, Weights: weights}
	centre := rows.GeometricMedian(x)
	far := make([]float64, x.N)
	for i := range far {
		far[i] = rows.Distance(x.Row(i), centre)
	}
	extent := 0.0
	if weights == nil {
		extent = dense.Select(far, max(int(math.Ceil(extentQuantile*float64(x.N)))-1, 0))
	} else {
		share := slices.Clone(weights)
		stat.SortWeighted(far, share)
		extent = stat.Quantile(extentQuantile, stat.Empirical, far, share)
	}
	return min(curvature*extent, math.MaxFloat64)
}

// judgeCurvature records the curvature of a fit in its Meta, with a note or a warning if it is large.
func (m *Meta) judgeCurvature(v float64) {
	m.CurvatureExtent = v
	switch {
	case v > runawayCurvature:
		m.Warnings = append(m.Warnings, fmt.Sprintf("the curvature times the extent of the coordinates is %.3g, above %d: the model is folded and follows single rows; use a larger ridge, or a smaller d or s", v, runawayCurvature))
	case v > foldedCurvature:
		m.Notes = append(m.Notes, fmt.Sprintf("the curvature times the extent of the coordinates is %.3g, above %d: rows near each other may have coordinates far apart; for coordinates and neighbours use a ridge of 0.01 to 0.1", v, foldedCurvature))
	}
}
