package scqm

import (
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// turnRows rotates the rows of a fit under a loss r'Mr so that its matrix is diagonal. The loss is then a sum over
// entries. Without the rotation each pass would take 2nD^2 operations. Finding the rotation costs about 9D^3.
func (r *request) turnRows() (undo, error) {
	form, quadratic := r.loss.(framework.Quadratic)
	if r.data.Missing || !quadratic || len(form.Matrix()) != r.data.D*r.data.D {
		return unchanged, nil
	}
	if _, published := r.config.Solver.(solvers.RGD); published {
		return unchanged, nil
	}
	foot := newFootprint(r.data, r.loss, r.config.Latent, r.columns, r.config.Threads)
	if err := r.reserve(foot.reserveRows(r.data, 4*foot.D*foot.D+170*foot.D)); err != nil {
		return nil, err
	}
	back, values, data := rows.NewRotation(r.data, form.Matrix())
	if back == nil {
		return unchanged, nil
	}
	c := *r.config
	c.Loss = &nearest.DiagonalForm{Values: values, Of: r.loss}
	plain := r.loss
	r.data, r.loss, r.config = data, c.Loss, &c
	return func(_ context.Context, fit *Fit, failure error) error {
		if fit != nil {
			fit.turnBack(back, plain, data.Weights)
		}
		return failure
	}, nil
}

// turnBack rotates a fit back to the original coordinates, with the signs of the canonical form in these coordinates.
func (f *Fit) turnBack(back *rows.Rotation, loss framework.Loss, weights []float64) {
	m := f.Model
	whole := m.sheet()
	q, turned := make([]float64, len(whole.QT)), make([]float64, len(whole.QT))
	dense.Transpose(q, whole.QT, whole.M, whole.D)
	back.ExpandFrame(turned, q, whole.M)
	dense.Transpose(whole.QT, turned, whole.D, whole.M)
	back.ExpandPoint(whole.C, m.C)
	sheet.Canonicalize(whole, m.Tau, weights)
	m.fromSheet(whole)
	m.Loss, m.Meta.Loss = loss, describeLoss(loss)
	f.Run.Point = expandPoint(back, f.Run.Point, back.D, len(f.Run.Point[BlockQ])/back.D)
}
