package scqm

import (
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// turnedColumns is the row length from which on a fit under r'Mr rotates the rows; see turnRows.
const turnedColumns = 32

// turnRows rotates the rows of a fit under a loss r'Mr so that its matrix is tridiagonal: products with the
// residuals then take 5nD operations per pass instead of 2nD^2. Finding the rotation costs about D/n passes.
type turnRows struct{}

func (turnRows) apply(r *request) (undo, error) {
	form, quadratic := r.loss.(framework.Quadratic)
	if r.config == nil || !quadratic || r.data.D < turnedColumns || r.data.D > compressionSweeps*r.data.N {
		return nil, nil
	}
	if _, published := r.config.Solver.(solvers.RGD); published {
		return nil, nil
	}
	foot := newFootprint(r.data, r.loss, r.config.Latent, r.columns.fitted, r.config.Threads)
	if err := r.reserve(foot.reserveRows(r.data, 2*foot.D*foot.D+170*foot.D)); err != nil {
		return nil, err
	}
	back, matrix, data := rows.NewRotation(r.data, form.Matrix())
	c := *r.config
	c.Loss = nearest.NewTridiagonalForm(matrix, r.loss)
	plain := r.loss
	r.data, r.loss, r.config = data, c.Loss, &c
	return func(_ context.Context, out *results) {
		if out.fit != nil {
			out.fit.turnBack(back, plain, data.Weights)
		}
	}, nil
}

// turnBack rotates a fit back to the original coordinates, with the signs of the canonical form there.
func (f *Fit) turnBack(back *rows.Rotation, loss framework.Loss, weights []float64) {
	m := f.Model
	whole := m.sheet()
	back.ExpandPoint(whole.C, m.C)
	back.ExpandAxes(whole.QT)
	sheet.Canonicalize(whole, m.Tau, weights)
	m.fromSheet(whole)
	m.Loss, m.Meta.Loss = loss, describeLoss(loss)
	f.Run.Point = expandPoint(back, f.Run.Point, len(f.Run.Point[BlockQ])/m.D)
}
