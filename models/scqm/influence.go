package scqm

import (
	"context"
	"errors"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/solvers"
)

// Influence measures the influence of each row on a fit by the infinitesimal jackknife. F(y) is the cost at the outer
// blocks y = (c, Q, Theta), minimised over Tau, and g_i is the gradient of the term of row i. Implicit
// differentiation of the first-order condition F'(y) = 0 with respect to the weight w_i gives
//
//	dy/dw_i = -H^-1 g_i,   H = F″(y),
//
// so that leaving out row i moves y by x = H^-1 w_i g_i to first order. H is the Schur complement in which Tau is
// eliminated. It acts on the tangent space of the Stiefel manifold, without the directions that change U, V, Theta
// and Tau but not f. For losses without second derivatives, differences of gradients replace them. The ridge penalty
// stays the same when a row is left out.
//
// Along the step x the cost without the row has less curvature than F, by the fraction h_i = w_i x'H_i x / x'Hx. This
// is the leverage of the row. The minimum along x is therefore 1/(1 - h_i) times as far. This correction is exact in
// linear regression. Here it avoids underestimating rows that the sheet follows.
//
// A full Newton step with (H - w_i H_i)^-1 is a worse predictor of the fit without the row. If a sheet is poorly
// determined, H - w_i H_i is often not positive definite, while the true fit, which is not quadratic, moves little.
//
// Sources: L. A. Jaeckel, The infinitesimal jackknife, Bell Laboratories (1972); R. D. Cook, Detection of
// influential observation in linear regression, Technometrics 19 (1977).
type Influence struct {
	// Rows has one entry for each row of the data.
	Rows []RowInfluence
	// Remaining is the distance, as in RowInfluence.Move, by which one more Newton step would move the fitted sheet.
	// It is 0 at an exact minimum.
	Remaining float64
	// Rounding is the length over which the kinks of the loss were smoothed, 0 without smoothing. The influences
	// apply to the fit with the smoothed loss.
	Rounding float64
	// Notes are warnings.
	Notes []string
}

// Influence computes the influence of every row of x. The rows and weights must be those that the model was fitted
// to. If many residuals are at kinks of the loss, as for l1, the first-order change is zero. Influence then smooths
// the loss and refines the model for the smoothed loss first; see Rounding.
//
// The work is about P^3 operations for the P = (1+d+s)D parameters of the sheet, and n P^2 for n rows. The memory is
// P^2 numbers. For radial losses D is replaced by at most n. It fails with [ErrNotMinimum] if the model is not a
// minimum.
func (m *Model) Influence(ctx context.Context, x Data, threads int) (*Influence, error) {
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	m, err := m.forComplete(x, "influence")
	if err != nil {
		return nil, err
	}
	held, err := m.reserveInfluence(x, threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	m.fromSheet(m.sheet().WithoutFlat()) // m is a copy
	fit, err := m.asPoint(ctx, x, threads)
	if err != nil {
		return nil, err
	}
	response, err := fit.response(ctx)
	if err != nil {
		return nil, err
	}
	out := &Influence{Remaining: response.Remaining, Rounding: fit.rounding}
	most, err := response.LeaveOut(ctx, *fit.problem.Data(), 0, threads, func(_ int, list []RowInfluence) error {
		out.Rows = append(out.Rows, list...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.addNotes(most, fit.jumps)
	return out, nil
}

// ErrAllRows reports a computation that requires all rows in memory.
var ErrAllRows = errors.New("this takes all rows in memory")

// InfluenceFrom is [Model.Influence] for rows that need not be in memory, with identical results. It reads the rows
// twice, [BlockRows] at a time, and passes the results to take in the order of the rows. The returned Influence has
// no Rows. It uses some P^2 numbers of memory, whatever the number of rows.
//
// It fails with [ErrAllRows] in three cases: if kinks of the loss must be smoothed, which takes another fit; if there
// are fewer rows than columns; and if entries were missing. Smoothing is needed for losses by entry with kinks, and
// for losses of the norm with residuals near 0 or with up to three directions off the sheet.
func (m *Model) InfluenceFrom(ctx context.Context, src Source, threads int, take func(first int, list []RowInfluence) error) (*Influence, error) {
	r, err := m.responseFrom(ctx, &LocalEngine{Source: src, Loss: m.Loss, Threads: threads}, threads, m.Tau)
	if err != nil {
		return nil, err
	}
	out := &Influence{Remaining: r.Remaining}
	most, err := r.LeaveOut(ctx, src, 0, threads, take)
	out.addNotes(most, false)
	return out, err
}

// ResponseFrom computes the response of a fit to rows that an engine reads once. The engine must use the loss of the
// model. The limits of [Model.InfluenceFrom] apply.
func (m *Model) ResponseFrom(ctx context.Context, e Engine) (*Response, error) {
	return m.responseFrom(ctx, e, 1, nil)
}

func (m *Model) responseFrom(ctx context.Context, e Engine, threads int, tau []float64) (*Response, error) {
	n, D := e.Shape()
	if err := m.accepts(Data{N: 1, D: D, X: make([]float64, D)}); err != nil {
		return nil, err
	}
	allRows := fmt.Errorf("scqm: influence of %d x %d rows under the loss %s: %w", n, D, m.Loss.Name(), ErrAllRows)
	_, kinks := m.Loss.(framework.Smoother)
	_, radial := m.Loss.(framework.Radial)
	rounds := kinks && (!radial || D-m.Latent <= objective.FewNormals)
	if m.Meta.Missing != nil || n < D || rounds {
		return nil, allRows
	}
	held, err := m.reserveInfluence(Data{N: min(n, BlockRows), D: D}, threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	f := m.sheet().WithoutFlat()
	if len(tau) != n*m.Latent {
		tau = nil
	}
	r, err := newResponse(f, m.Loss, n, tau)
	if err != nil {
		return nil, err
	}
	of, err := r.sum(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := m.sameObjective(of.Cost, of.Exact); err != nil {
		return nil, err
	}
	if kinks && of.Touch {
		return nil, allRows
	}
	return r, r.settle(of, objective.Regularizer{Lambda: m.penaltyFactor(f)})
}

// addNotes adds notes on why leaving out rows may move the sheet more than the influences predict. most is the
// largest influence; jumps reports whether the gradient of the loss jumps at its kinks.
func (o *Influence) addNotes(most float64, jumps bool) {
	if o.Remaining > most/10 {
		o.Notes = append(o.Notes, fmt.Sprintf("one more step of the fit would move the sheet by %.3g, the most influential row moves it by %.3g: fit with a smaller tolerance first", o.Remaining, most))
	}
	if o.Rounding > 0 {
		note := fmt.Sprintf("the kinks of the loss were rounded over %.3g", o.Rounding)
		if jumps {
			note += "; a fit that runs through some of the rows stays or jumps when one is left out, so that the influences are a rough guide"
		}
		o.Notes = append(o.Notes, note)
	}
}

// reserveInfluence reserves the memory of influences (for a radial loss, in the span of the rows): second derivatives
// of the sheet, sums over pairs of features, and buffers of every thread.
func (m *Model) reserveInfluence(x Data, threads int) (*memory.Reservation, error) {
	f := newFootprint(x, m.Loss, m.Latent, m.Curvature, threads)
	D := f.D
	if !f.entries {
		D = min(D, f.n)
	}
	sheet := D + D*f.m - f.m*(f.m+1)/2 + f.q*f.s
	numbers := f.problem() + 10*f.point + 2*f.residuals + 6*sheet*sheet + 6*D*D + 8*f.n
	batch := min(influence.BatchRows, f.n)
	perThread := batch*((3+2*f.d+2*f.m)*sheet+f.features*(1+f.d)+(12+f.d)*D+f.d*f.d+2*f.d+2) + 2*D*f.features + 3*D*D
	if _, kinks := m.Loss.(framework.Smoother); kinks { // the fit for a smoothed loss
		numbers += max(f.solver(solvers.Newton{}), f.solver(solvers.LBFGS{})) + 4*f.point
	}
	if D < f.D { // the basis of the span, and the rows in it
		numbers += f.n*f.D + f.n*f.n
	}
	return reserve("influence", x, numbers+(f.threads+2)*perThread)
}
