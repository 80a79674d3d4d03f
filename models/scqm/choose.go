package scqm

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// LearnLoss chooses the loss and fits a model with it: it fits with l2, looks at
// the residuals (see [losses.Choose]) and, where they say that another loss
// estimates better, fits again. The notes of the model say what was chosen and
// why. c.Loss must be nil. Where the first fit fails or is cancelled it is
// returned as it is; so is a model without notes on the choice, therefore. It costs
// two fits and the residuals of one.
func LearnLoss(ctx context.Context, x Data, c Config) (*Fit, error) {
	if c.Loss != nil {
		return nil, fmt.Errorf("scqm: the loss is to be chosen, but %s is given: %w", c.Loss.Name(), ErrInput)
	}
	c.Options = c.Options.Begun() // the time limit is that of both fits
	if c.IgnoreMissing {
		return nil, fmt.Errorf("scqm: the loss is chosen by the residuals of whole rows; where missing entries are ignored, name one (%s): %w", "squared_l2, huber, l1 or lp", ErrInput)
	}
	c.Loss = losses.L2()
	first, err := Learn(ctx, x, c)
	if err != nil || first.Run.Status == framework.Cancelled {
		return first, err
	}
	held, err := reserveChoice(x)
	if err != nil {
		return first, err
	}
	defer held.Release()
	residuals, err := first.Model.Reconstruct(ctx, first.Model.Tau, c.Threads)
	if err != nil {
		return first, err
	}
	floats.Sub(residuals, x.X)
	m := first.Model
	choice, err := losses.Choose(residuals, m.ResidualParts(m.Tau), m.D, m.Latent)
	if err != nil {
		return first, fmt.Errorf("scqm: %w: %w", err, ErrInput)
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
