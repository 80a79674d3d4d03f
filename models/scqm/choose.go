package scqm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// LearnLoss chooses the loss and fits a model with it: it fits with l2, and takes
// another loss in two cases. Huber's loss of entries is tried where single entries are
// outlying, not whole rows, and taken where the fit by it has the smaller bounded error,
// by more than two standard errors; where it is better by less, or worse by less than one,
// the error of rows held out decides. A loss for which the residuals of l2 speak (see [losses.Choose]) is
// taken where it has the smaller error of rows held out, by however little, unless the fit
// by it has the larger bounded error, by more than one standard error. Where whole rows are
// outlying, l2 is kept, which is made for them. What is far out counts
// little in these errors, and no entry is left out of a fit. The notes of the model say
// what was chosen and why.
//
// c.Loss must be nil. Where the first fit fails or is cancelled it is
// returned as it is; so is a model without notes on the choice, therefore. It costs
// one fit, and one more by the loss that is tried or taken; where rows held out decide,
// also two for each loss of half of the rows, 500 at most, with 100 iterations.
func LearnLoss(ctx context.Context, x Data, c Config) (*Fit, error) {
	if c.Loss != nil {
		return nil, fmt.Errorf("scqm: the loss is to be chosen, but %s is given: %w", c.Loss.Name(), ErrInput)
	}
	c.Options = c.Options.Begun() // the time limit is that of all fits
	if c.IgnoreMissing {
		return nil, fmt.Errorf("scqm: the loss is chosen by the residuals of whole rows; where missing entries are ignored, name one (%s): %w", "squared_l2, huber, l1 or lp", ErrInput)
	}
	c.Loss = losses.L2()
	first, err := Learn(ctx, x, c)
	if err != nil || first.Run.Status == framework.Cancelled {
		return first, err
	}
	fit, reason, err := first.chooseLoss(ctx, x, c)
	switch {
	case ctx.Err() != nil && (fit == nil || fit == first):
		first.Run.Status = framework.Cancelled
		first.Run.Message = "cancelled while the loss was chosen; the model is that of l2"
		first.Model.Meta.Status, first.Model.Meta.Message = first.Run.Status.String(), first.Run.Message
		return first, nil
	case fit == nil:
		return first, err
	}
	fit.Model.Meta.Notes = append(fit.Model.Meta.Notes, reason)
	return fit, err
}

// chooseLoss chooses a loss after a fit by l2, and returns the fit by it.
func (f *Fit) chooseLoss(ctx context.Context, x Data, c Config) (*Fit, string, error) {
	held, err := reserveChoice(x)
	if err != nil {
		return nil, "", err
	}
	defer held.Release()
	m := f.Model
	residuals, err := m.Reconstruct(ctx, m.Tau, c.Threads)
	if err != nil {
		return nil, "", err
	}
	floats.Sub(residuals, x.X)
	h, err := f.newComparison(ctx, x, residuals, c)
	if err != nil {
		return nil, "", err
	}
	var entries *rival
	if h != nil {
		if h.far.wholeRows() {
			return f, "kept the loss l2: " + h.far.String(), nil
		}
		entries, err = h.byEntries(ctx, x, c)
		switch {
		case errors.Is(err, ErrInput): // of the rows as they are
			return nil, "", err
		case err != nil:
			return f.unlessIncomparable(ctx, err)
		case entries != nil && entries.fits.errors < -decisive:
			return entries.fit, entries.reason + "; " + entries.told, nil
		}
	}
	spoken, err := losses.Choose(residuals, m.ResidualParts(m.Tau), m.D, m.Latent)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("scqm: %w: %w", err, ErrInput)
	case h == nil:
		return f, keptL2(spoken, "there are too few rows to compare it with l2"), nil
	}
	return f.weigh(ctx, x, c, h, entries, spoken)
}

// keptL2 says why l2 is kept.
func keptL2(spoken losses.Choice, why string) string {
	if isL2(spoken.Loss) {
		return spoken.Reason
	}
	return "kept the loss l2: the residuals speak for another one, and " + why
}

func isL2(l framework.Loss) bool { return l.Name() == losses.L2().Name() }

// byEntries fits by Huber's loss of entries where single entries are outlying, and
// compares that with the fit by l2; else it returns nil. Fits are compared as they are,
// since it is they that may be bent. One that the time limit ended counts as it is.
func (h *comparison) byEntries(ctx context.Context, x Data, c Config) (*rival, error) {
	if !h.far.many() {
		return nil, nil
	}
	if c.Options.OutOfTime() {
		return nil, errOutOfTime
	}
	r := &rival{bySize: true, errors: 1}
	var err error
	if c.Loss, err = losses.HuberEntries(h.size); err != nil {
		return nil, fmt.Errorf("scqm: %w: %w", err, ErrInput)
	}
	r.loss = c.Loss
	if r.fit, err = Learn(ctx, x, c); err == nil {
		err = ctx.Err()
	}
	if err == nil {
		r.fits, err = h.against(ctx, r.fit.Model)
	}
	r.reason = fmt.Sprintf("chose the loss %s: %s", lossText(r.loss), h.far)
	r.told = r.toldFits()
	return r, err
}

// weigh returns the fit by a loss that rows held out prefer to l2, or f: that by entries,
// nil if there is none, and that for which the residuals speak, each unless it is worse
// as it is.
func (f *Fit) weigh(ctx context.Context, x Data, c Config, h *comparison, entries *rival, spoken losses.Choice) (*Fit, string, error) {
	var rivals []*rival
	var told []string
	if entries != nil {
		told = append(told, entries.told)
		if entries.fits.errors <= 1 {
			rivals = append(rivals, entries)
		}
	} else {
		told = append(told, h.far.String())
	}
	if !isL2(spoken.Loss) {
		rivals = append(rivals, &rival{loss: spoken.Loss, reason: spoken.Reason})
	}
	verdicts, err := h.heldOut(ctx, rivals)
	if err != nil {
		return f.unlessIncomparable(ctx, err)
	}
	var held []*rival // that rows held out prefer, the best of them first
	for k, v := range verdicts {
		r := rivals[k]
		r.held = v
		told = append(told, r.toldHeld())
		if v.errors < -r.errors && v.ratio < 1 {
			held = append(held, r)
		}
	}
	slices.SortStableFunc(held, func(a, b *rival) int { return cmp.Compare(a.held.ratio, b.held.ratio) })
	for _, r := range held {
		bent, err := r.bent(ctx, x, c, h)
		switch {
		case err != nil && r.fit != nil:
			return f.unlessIncomparable(ctx, err)
		case err != nil || !bent:
			return r.fit, r.reason + "; " + r.toldHeld(), err
		}
		told = append(told, r.told)
	}
	why := "rows held out do not"
	if len(held) > 0 {
		why = "the fit by it is worse"
	}
	return f, strings.Join(append([]string{keptL2(spoken, why)}, told...), "; "), nil
}

// toldHeld says what the loss comes to on rows held out.
func (r *rival) toldHeld() string {
	return fmt.Sprintf("%s has %.3g times the error of l2 on rows held out", r.loss.Name(), r.held.ratio)
}

// bent fits all rows by the loss, if that is not done, and reports whether the sheet has
// been bent: whether its bounded error is above that of l2 by more than one standard
// error. Fits to halves may be good where that to all rows found another minimum. One
// that is cancelled is not judged.
func (r *rival) bent(ctx context.Context, x Data, c Config, h *comparison) (bool, error) {
	if r.fit != nil {
		return false, nil // by entries: judged before rows were held out
	}
	c.Loss = r.loss
	fit, err := Learn(ctx, x, c)
	if err != nil {
		return false, err
	}
	r.fit = fit
	if ctx.Err() != nil {
		return false, nil
	}
	r.fits, err = h.against(ctx, fit.Model)
	r.told = r.toldFits()
	return r.fits.errors > 1, err
}

// toldFits says what the fit by the loss comes to.
func (r *rival) toldFits() string {
	return fmt.Sprintf("%s has %.3g times the bounded error of l2", r.loss.Name(), r.fits.ratio)
}

// unlessIncomparable keeps f where losses cannot be compared, and the work is not over.
func (f *Fit) unlessIncomparable(ctx context.Context, err error) (*Fit, string, error) {
	if incomparable(err) && ctx.Err() == nil {
		return f, fmt.Sprintf("kept the loss l2: it cannot be compared with others: %v", err), nil
	}
	return nil, "", err
}

// lossText names a loss with its parameters.
func lossText(l framework.Loss) string {
	text := l.Name()
	if p, ok := l.(framework.Parametric); ok {
		for _, name := range slices.Sorted(maps.Keys(p.Params())) {
			text += fmt.Sprintf(", %s = %.4g", name, p.Params()[name])
		}
	}
	return text
}

// ResidualParts returns, n x D, which part of the variance of the noise a fit to
// rows leaves in the residuals of each, given their latent coordinates tau, n x d:
// 1 less the diagonal of the projector on the tangent space, times what the
// parameters in common leave of the rest. [losses.EstimatePower] and
// [losses.Choose] take it.
func (m *Model) ResidualParts(tau []float64) []float64 {
	f := m.sheet()
	n := len(tau) / f.Latent
	// c, the frame without the rotations that tau takes up, and Theta.
	s := m.curvedColumns()
	common := float64(f.D + (f.D-f.Latent)*(f.Latent+s) + f.Latent*(f.Latent+1)/2*s)
	rest := max(0.01, 1-common/float64(n*(f.D-f.Latent)))
	parts := make([]float64, n*f.D)
	e, gram := mat.NewDense(f.M, f.Latent, nil), mat.NewSymDense(f.Latent, nil)
	var factor mat.Cholesky
	across, solved := mat.NewVecDense(f.Latent, nil), mat.NewVecDense(f.Latent, nil)
	for i := range n {
		f.Jacobian(e.RawMatrix().Data, tau[i*f.Latent:(i+1)*f.Latent])
		gram.SymOuterK(1, e.T())
		tangent := factor.Factorize(gram)
		for j := range f.D {
			lost := 0.0
			if tangent {
				across.Zero()
				for k := range f.M {
					across.AddScaledVec(across, f.Axis(k)[j], e.RowView(k))
				}
				if factor.SolveVecTo(solved, across) == nil {
					lost = mat.Dot(across, solved)
				}
			}
			parts[i*f.D+j] = max(0.01, (1-lost)*rest)
		}
	}
	return parts
}

// curvedColumns counts the directions of V in which the sheet is curved at all.
func (m *Model) curvedColumns() int {
	used := make([]bool, m.Curvature)
	for i, v := range m.Theta {
		used[i%m.Curvature] = used[i%m.Curvature] || v != 0
	}
	count := 0
	for _, u := range used {
		if u {
			count++
		}
	}
	return count
}
