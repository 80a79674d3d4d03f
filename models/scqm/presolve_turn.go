package scqm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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
	plain, given := r.loss, r.data
	r.data, r.loss, r.config = data, c.Loss, &c
	return func(ctx context.Context, fit *Fit, failure error) error {
		if fit == nil {
			return failure
		}
		fit.turnBack(back, plain, data.Weights)
		if fit.Run.Status != framework.Converged {
			return failure
		}
		return cmp.Or(failure, fit.certifyTurned(ctx, given, &c))
	}, nil
}

// certifyTurned computes the stationarity of a converged fit after the rotation, which has rounded c relative to its
// size. Far from the origin this can be more than the tolerance.
func (f *Fit) certifyTurned(ctx context.Context, x Data, c *Config) error {
	m := f.Model
	p, err := NewProblem(ctx, x, m.Loss, m.Latent, len(f.Run.Point[BlockQ])/x.D-m.Latent, c.Threads)
	if err != nil {
		return err
	}
	p.Lambda = m.lambda()
	now := make([]float64, len(f.Run.Stationarity))
	if err := p.Stationarity(now, f.Run.Point); err != nil {
		return err
	}
	tolerance := cmp.Or(c.Options.Tolerance, framework.DefaultTolerance)
	if worst := slices.Max(now); worst > tolerance {
		f.Run.Status, f.Run.Stationarity = framework.Stalled, now
		f.Run.Message = fmt.Sprintf("the rounding of c leaves a first-order residual of %.2g, above the tolerance %.2g; subtract the mean from the rows", worst, tolerance)
		m.Meta.Status, m.Meta.Message, m.Meta.Stationarity = f.Run.Status.String(), f.Run.Message, now
	}
	return nil
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
