package scqm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// LearnLoss chooses the loss and fits a model with it: it fits with l2 and takes
// another loss, and fits again, in two cases. Huber's loss of entries is taken where it
// has the smaller error on rows held out, by more than a standard error: that is so
// where single entries are spoilt. A loss for which the residuals of l2 speak (see
// [losses.Choose]) is taken where it has the smaller error at all. Of two the
// one with the smaller error is taken. What is far out counts little in these errors,
// and no entry is left out. The notes of the model say what was chosen and why.
//
// c.Loss must be nil. Where the first fit fails or is cancelled it is
// returned as it is; so is a model without notes on the choice, therefore. It costs
// two fits, and at most twelve of half of the rows, 500 at most, with 100 iterations.
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
	choice, err := first.chooseLoss(ctx, x, c)
	switch {
	case ctx.Err() != nil:
		first.Run.Status = framework.Cancelled
		first.Run.Message = "cancelled while the loss was chosen; the model is that of l2"
		first.Model.Meta.Status, first.Model.Meta.Message = first.Run.Status.String(), first.Run.Message
		return first, nil
	case err != nil:
		return first, err
	}
	fit := first
	if choice.Loss.Name() != c.Loss.Name() {
		c.Loss = choice.Loss
		fit, err = Learn(ctx, x, c)
	}
	if fit != nil {
		fit.Model.Meta.Notes = append(fit.Model.Meta.Notes, choice.Reason)
	}
	return fit, err
}

// chooseLoss chooses a loss after a fit by l2.
func (f *Fit) chooseLoss(ctx context.Context, x Data, c Config) (losses.Choice, error) {
	held, err := reserveChoice(x)
	if err != nil {
		return losses.Choice{}, err
	}
	defer held.Release()
	m := f.Model
	residuals, err := m.Reconstruct(ctx, m.Tau, c.Threads)
	if err != nil {
		return losses.Choice{}, err
	}
	floats.Sub(residuals, x.X)
	spoken, err := losses.Choose(residuals, m.ResidualParts(m.Tau), m.D, m.Latent)
	if err != nil {
		return losses.Choice{}, fmt.Errorf("scqm: %w: %w", err, ErrInput)
	}
	r := request{data: x, config: &c}
	defer r.release()
	if _, err := (mergeRows{}).apply(&r); err != nil {
		return losses.Choice{}, err
	}
	if r.data.N < choiceRows || m.D == m.Latent {
		return spoken, nil
	}
	rivals := []rival{}
	if size := entrySize(residuals, m.D, m.Latent); size > 0 {
		loss, err := losses.HuberEntries(size)
		if err != nil {
			return losses.Choice{}, fmt.Errorf("scqm: %w: %w", err, ErrInput)
		}
		rivals = append(rivals, rival{loss, true, 1, "chose the loss " + lossText(loss)})
	}
	if spoken.Loss.Name() != losses.L2().Name() {
		rivals = append(rivals, rival{spoken.Loss, false, 0, spoken.Reason})
	}
	return weigh(ctx, newComparison(r.data, c), rivals, spoken)
}

// rival is a loss to take in place of l2 if its error on rows held out is smaller by
// so many standard errors.
type rival struct {
	loss framework.Loss
	// bySize says that it is the Huber loss of entries which turns linear at the size
	// of those of the noise.
	bySize bool
	errors float64
	reason string // for it
}

// lossFor returns the loss for rows in a unit, with noise of that size.
func (r rival) lossFor(size, unit float64) (framework.Loss, error) {
	if r.bySize {
		return losses.HuberEntries(size)
	}
	loss, _, _ := rows.Rescaled(r.loss, unit)
	return loss, nil
}

// weigh takes the rival with the smallest error, if that is small enough. Spoken is
// what the residuals say.
func weigh(ctx context.Context, h *comparison, rivals []rival, spoken losses.Choice) (losses.Choice, error) {
	values, err := h.errors(ctx, rivals)
	if err != nil {
		if incomparable(err) && ctx.Err() == nil {
			return losses.Choice{Loss: losses.L2(), Reason: fmt.Sprintf("kept the loss l2: losses cannot be compared by rows held out: %v", err)}, nil
		}
		return losses.Choice{}, err
	}
	best, least := -1, 1.0
	var told []string
	for k, r := range rivals {
		ratio, better := h.verdict(values[0], values[k+1], r.errors)
		told = append(told, fmt.Sprintf("%s has %.3g times the error of l2 on rows held out", r.loss.Name(), ratio))
		if better && ratio < least {
			best, least = k, ratio
		}
	}
	if best >= 0 {
		r := rivals[best]
		return losses.Choice{Loss: r.loss, Decided: true, Reason: strings.Join([]string{r.reason, told[best]}, "; ")}, nil
	}
	if spoken.Loss.Name() != losses.L2().Name() {
		spoken.Reason = "kept the loss l2: the residuals speak for another one, and rows held out do not"
	}
	return losses.Choice{Loss: losses.L2(), Decided: true, Reason: strings.Join(append([]string{spoken.Reason}, told...), "; ")}, nil
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
