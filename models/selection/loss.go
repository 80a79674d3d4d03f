package selection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm"
)

const (
	// comparedRows is the number of distinct rows below which losses are not compared, and maxComparedRows
	// bounds the rows that are compared.
	comparedRows, maxComparedRows = 20, 1000
	// bentRatio is the ratio of the error to that of l2 above which a fit is rejected, because
	// it follows corrupted entries or is a worse minimum.
	bentRatio = 1.05
	// residualArrays is the number of arrays of the size of the rows that the choice of a loss holds.
	residualArrays = 6
)

// comparedLimits are the limits of fits for comparison.
var comparedLimits = framework.Options{MaxIterations: 100, MinRelativeDecrease: 1e-5}

// errOutOfTime says that the time limit ended a fit or left no time for it.
var errOutOfTime = errors.New("scqm: out of time")

// LearnLoss fits a model by l2, then by a candidate loss, and returns the candidate's fit unless its
// error is larger by more than a twentieth: the mean error of the rows, bounded in each entry and row.
// If single entries are outlying, the candidate is Huber's loss of entries. If whole rows are, there
// is none, because l2 suits such data. Else it is the loss that fits the residuals of l2 best (see
// [losses.Choose]). The last note of the model gives the choice and the reason.
//
// c.Loss must be nil. If the first fit fails or is cancelled, it is returned without the note. The
// choice takes about the time of the candidate's fit, and little time without a candidate.
func LearnLoss(ctx context.Context, x scqm.Data, c scqm.Config) (*scqm.Fit, error) {
	if c.Loss != nil {
		return nil, fmt.Errorf("scqm: the loss is to be chosen, but %s is given: %w", c.Loss.Name(), scqm.ErrInput)
	}
	if c.IgnoreMissing {
		return nil, fmt.Errorf("scqm: the loss is chosen by the residuals of whole rows; where missing entries are ignored, name one (%s): %w", "squared_l2, huber, l1 or lp", scqm.ErrInput)
	}
	c.Options = c.Options.Begun() // the time limit is that of all fits
	c.Loss = losses.L2()
	first, err := scqm.Learn(ctx, x, c)
	if err != nil || first.Run.Status == framework.Cancelled {
		return first, err
	}
	fit, reason, err := chooseLoss(ctx, first, x, c)
	switch {
	case ctx.Err() != nil:
		first.Run.Status = framework.Cancelled
		first.Run.Message = "cancelled while the loss was chosen; the model is that of l2"
		first.Model.Meta.Status, first.Model.Meta.Message = first.Run.Status.String(), first.Run.Message
		return first, nil
	case err != nil:
		return first, err
	}
	fit.Model.Meta.Notes = append(fit.Model.Meta.Notes, reason)
	return fit, nil
}

// chooseLoss returns the fit by the chosen loss, given first, a fit by l2, and the reason.
func chooseLoss(ctx context.Context, first *scqm.Fit, x scqm.Data, c scqm.Config) (*scqm.Fit, string, error) {
	held, err := memory.Reserve(fmt.Sprintf("choosing a loss for %d rows of %d columns", x.N, x.D), 8*residualArrays*float64(x.N)*float64(x.D), "take fewer rows or columns")
	if err != nil {
		return nil, "", fmt.Errorf("scqm: %w", err)
	}
	defer held.Release()
	m := first.Model
	residuals, err := m.Reconstruct(ctx, m.Tau, c.Threads)
	if err != nil {
		return nil, "", err
	}
	floats.Sub(residuals, x.X)
	h, err := compareAll(ctx, m, x, entrySize(residuals, m.D, m.Latent), c)
	if err != nil {
		return nil, "", err
	}
	if h != nil && h.outliers.wholeRows() {
		return first, "kept the loss l2: " + h.outliers.String(), nil
	}
	candidate, reason, err := h.candidate(m, residuals)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("scqm: %w: %w", err, scqm.ErrInput)
	case candidate.Name() == c.Loss.Name():
		return first, reason, nil
	case h == nil:
		return first, "kept the loss l2: the residuals fit another one better, and there are too few rows to compare it with l2", nil
	}
	fit, result, err := h.try(ctx, candidate, x, c)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case errors.Is(err, scqm.ErrInput) || errors.Is(err, framework.ErrNonFinite) || errors.Is(err, errOutOfTime):
		return first, fmt.Sprintf("kept the loss l2: it cannot be compared with others: %v", err), nil
	case err != nil:
		return nil, "", err
	case fit == nil:
		return first, fmt.Sprintf("kept the loss l2: the rows do not prefer another one: %s; %s", h.outliers, result), nil
	}
	return fit, reason + "; " + result, nil
}

// compareAll returns the comparison of fits to x with m, a fit by l2 with noise of the
// given size. It returns nil if there are too few rows or all lie on the sheet.
func compareAll(ctx context.Context, m *scqm.Model, x scqm.Data, size float64, c scqm.Config) (*comparison, error) {
	distinct := rows.Merge(x).Data
	if distinct.N < comparedRows || m.D == m.Latent {
		return nil, nil
	}
	order := rows.Shuffled(distinct, c.Seed)
	return newComparison(ctx, m, distinct.Select(order[:min(distinct.N, maxComparedRows)]), size, c.Threads)
}

// candidate returns the loss to try in place of l2, or l2 itself, with the reason.
func (h *comparison) candidate(m *scqm.Model, residuals []float64) (framework.Loss, string, error) {
	if h != nil && h.outliers.many() {
		loss, err := losses.HuberEntries(h.size)
		if err != nil {
			return nil, "", err
		}
		return loss, fmt.Sprintf("chose the loss %s: %s", lossText(loss), h.outliers), nil
	}
	best, err := losses.Choose(residuals, m.ResidualParts(m.Tau), m.D, m.Latent)
	if h != nil {
		best.Reason += "; " + h.outliers.String()
	}
	return best.Loss, best.Reason, err
}

// try fits by a loss. It returns the fit, or nil if its errors are too large, and the
// ratio of errors that decided.
func (h *comparison) try(ctx context.Context, loss framework.Loss, x scqm.Data, c scqm.Config) (*scqm.Fit, string, error) {
	c.Loss = loss
	fit, err := learnInTime(ctx, x, c)
	if err != nil {
		return nil, "", err
	}
	ratio, err := h.ratio(ctx, fit.Model)
	result := fmt.Sprintf("%s has %.3g times the bounded error of l2", loss.Name(), ratio)
	if err != nil || !(ratio <= bentRatio) {
		return nil, result, err
	}
	return fit, result, nil
}

// learnInTime fits a model. If the time limit ends the fit, it returns errOutOfTime.
func learnInTime(ctx context.Context, x scqm.Data, c scqm.Config) (*scqm.Fit, error) {
	if c.Options.OutOfTime() {
		return nil, errOutOfTime
	}
	fit, err := scqm.Learn(ctx, x, c)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case fit.Run.Status == framework.TimeLimit:
		return nil, errOutOfTime
	}
	return fit, nil
}

// lossText formats a loss with its parameters.
func lossText(l framework.Loss) string {
	text := l.Name()
	if p, ok := l.(rowloss.Parametric); ok {
		for _, name := range slices.Sorted(maps.Keys(p.Params())) {
			text += fmt.Sprintf(", %s = %.4g", name, p.Params()[name])
		}
	}
	return text
}

// boundedRow bounds the error of a row, as a multiple of the median error of the rows under l2.
const boundedRow = 2

// comparison compares fits to the same rows by errors bounded in each entry and row: the error of row x is
//
//	min( sum_k min((x - f(tau))_k^2, (4 s_k)^2), 2 m ),
//
// with s_k the noise of column k and m the median of the sum, both under l2 (see [noiseSpreads]), and tau =
// argmin sum_k h((x - f(tau))_k), h the Huber loss of an entry, which turns linear at 1.345 times the size of
// the noise under l2, for all losses. A sheet that follows a corrupted entry gains at most 16 s_k^2 there, and
// loses in other rows. Robust estimation likewise chooses the solution of least bounded scale.
//
// Source: P. J. Rousseeuw, V. Yohai, Robust regression by means of S-estimators, Lecture Notes in Statistics 26
// (1984).
type comparison struct {
	x        scqm.Data // distinct rows in random order, not too many
	threads  int
	size     float64 // median size of an entry of the noise under l2
	loss     framework.Loss
	bounds   []float64 // D: 4 s_k
	outliers outliers
	most     float64 // 2 m
	base     float64 // mean error under l2
}

// newComparison returns the comparison with a model by l2 and its noise size, or nil if
// the rows have no noise.
func newComparison(ctx context.Context, m *scqm.Model, x scqm.Data, size float64, threads int) (*comparison, error) {
	if !(size > 0) {
		return nil, nil
	}
	h := &comparison{x: x, threads: threads, size: size, most: math.Inf(1)}
	var err error
	if h.loss, err = losses.HuberEntries(efficient * normalSpread * h.size); err != nil {
		return nil, fmt.Errorf("scqm: %w: %w", err, scqm.ErrInput)
	}
	r, err := h.residuals(ctx, m)
	if err != nil {
		return nil, err
	}
	h.outliers = countOutliers(r, m.D, m.Latent)
	h.bounds = noiseSpreads(r, m.D, m.Latent)
	floats.Scale(outlying, h.bounds)
	h.most = boundedRow * median(h.rowErrors(r))
	h.base = h.meanError(r)
	return h, nil
}

// ratio returns the error of a model divided by that of the l2 fit.
func (h *comparison) ratio(ctx context.Context, m *scqm.Model) (float64, error) {
	r, err := h.residuals(ctx, m)
	if err != nil {
		return 0, err
	}
	return h.meanError(r) / h.base, nil
}

// residuals returns the residuals of the rows projected under Huber's loss.
func (h *comparison) residuals(ctx context.Context, m *scqm.Model) ([]float64, error) {
	by := *m
	by.Loss = h.loss
	return residuals(ctx, &by, h.x, h.threads)
}

// residuals returns P(x) - x for each row.
func residuals(ctx context.Context, m *scqm.Model, x scqm.Data, threads int) ([]float64, error) {
	r, err := m.Project(ctx, x, threads)
	if err == nil {
		floats.Sub(r, x.X)
	}
	return r, err
}

// rowErrors returns the errors of rows with these residuals.
func (h *comparison) rowErrors(r []float64) []float64 {
	D := h.x.D
	values := make([]float64, len(r)/D)
	for k, e := range r {
		e = min(math.Abs(e), h.bounds[k%D])
		values[k/D] += e * e
	}
	for i := range values {
		values[i] = min(values[i], h.most)
	}
	return values
}

func (h *comparison) meanError(r []float64) float64 {
	var sum float64
	for i, v := range h.rowErrors(r) {
		sum += h.x.Weight(i) * v
	}
	return sum / h.x.TotalWeight()
}
