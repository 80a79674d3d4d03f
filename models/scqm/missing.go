package scqm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Missing entries have no weight: the objective is
//
//	sum_i w_i ( sum over the entries k of row i that are there of phi(f(tau_i)_k - x_ik) + tau_i'P_i tau_i )
//
// plus the curvature penalty. A row with few entries is fitted exactly by many tau, one
// with less than d by a whole curve or surface of them. So tau of rows with missing
// entries has a Gaussian prior: P_i = s^2 S^-1 for squared_l2, with s^2 the variance of
// the noise of an entry and S the covariance of tau, both those of the fit itself, see
// settlePrior; for other losses the mean loss of an entry takes the place of s^2. Rows
// without missing entries have P_i = 0, so that complete data are fitted without a prior.
//
// Source: M. Tipping, C. Bishop, Probabilistic principal component analysis, Journal of
// the Royal Statistical Society B 61 (1999), of which this is the most likely tau.

// rowLoss returns the loss of a problem with the rows x.
func (c Config) rowLoss(x Data) (framework.Loss, error) {
	if !c.IgnoreMissing || x.Missing { // which the problem sees to
		return c.Loss, nil
	}
	return lossByEntry(c.Loss)
}

// roundedFor returns the loss in a form that solvers can smooth, if the loss has kinks; see [losses.Rounded].
func roundedFor(l framework.Loss, x Data) (framework.Loss, error) {
	if x.Missing || rowloss.StructureOf(l) != rowloss.StructureBlackBox {
		return l, nil
	}
	l, err := losses.Rounded(l, x.D, math.Sqrt(spread(x, rows.Mean(x))))
	if err != nil {
		return nil, fmt.Errorf("scqm: %w", err)
	}
	return l, nil
}

// lossByEntry returns a loss as the equivalent sum over entries for complete rows. squared_l2 is returned unchanged,
// with all its capabilities.
func lossByEntry(l framework.Loss) (framework.Loss, error) {
	by, err := losses.ByEntry(l)
	if err != nil {
		return nil, fmt.Errorf("scqm: %w: %w", err, ErrInput)
	}
	if l.Name() == losses.SquaredL2().Name() {
		return l, nil
	}
	return by, nil
}

// rowLosses returns the loss that projects complete rows, and the loss and prior that project incomplete rows.
func (m *Model) rowLosses() (framework.Loss, nearest.Missing, error) {
	if m.Meta.Missing == nil {
		l, err := losses.Rounded(m.Loss, m.D, 1)
		return l, nearest.Missing{}, err
	}
	complete, err := lossByEntry(m.Loss)
	if err != nil {
		return nil, nearest.Missing{}, err
	}
	partial, err := losses.IgnoreMissing(m.Loss)
	return complete, nearest.Missing{Loss: partial, Prior: m.Meta.Missing.prior()}, err
}

// Losses writes the losses of residual rows r, n x D. If the model ignores missing entries, NaN entries are skipped.
func (m *Model) Losses(values, r []float64) error {
	loss := m.Loss
	if m.Meta.Missing != nil {
		partial, err := losses.IgnoreMissing(m.Loss)
		if err != nil {
			return fmt.Errorf("scqm: %w: %w", err, ErrInput)
		}
		loss = partial
	}
	return loss.Evaluate(values, nil, r, m.D)
}

// forComplete returns the model for operations that need complete rows. If the model ignores missing entries, its
// loss is taken by entry.
func (m *Model) forComplete(x Data, act string) (*Model, error) {
	for i := range x.N {
		if m.Meta.Missing != nil && rows.Incomplete(x.Row(i)) {
			return nil, fmt.Errorf("scqm: entries of row %d are missing, and %s takes complete rows; impute them first: %w", x.First+i, act, ErrInput)
		}
	}
	by := *m
	var err error
	by.Loss, _, err = m.rowLosses()
	return &by, err
}

// describeMissing returns the Meta that describes the missing entries.
func (p *Problem) describeMissing(c Config, m *Model, x framework.Point) *MissingMeta {
	if !c.IgnoreMissing {
		return nil
	}
	if p.Prior == nil && p.setPrior(x) != nil { // for rows that are placed later
		p.Prior = nil
	}
	f := p.NewSheet()
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	before := make([]float64, f.D*f.Latent)
	dense.Transpose(before, f.QT[:f.Latent*f.D], f.Latent, f.D)
	return &MissingMeta{
		Policy: MissingIgnored, Entries: len(p.Data().X) - p.Data().Observed(),
		Prior: turned(p.Prior, before, m.U, f.D, f.Latent),
	}
}

// setPrior sets the prior of incomplete rows from the noise and the covariance of tau at a point. The point must not
// be flat: on a flat sheet, curvature would count as noise.
func (p *Problem) setPrior(at framework.Point) error {
	x, d := *p.Data(), p.Shape().Latent
	cost, err := p.Evaluate(nil, at)
	if err != nil {
		return err
	}
	cost -= p.Penalty(nil, at[BlockTheta]) + p.PriorPenalty(at)
	noise := cost / x.TotalWeight() * (float64(x.N) / freeEntries(float64(x.Observed()), x.N, p.Shape()))
	p.Prior = priorOf(at[BlockTau], x, d, noise)
	if !(framework.Point{p.Prior}).Finite() {
		return fmt.Errorf("scqm: the noise overflows at the scale of the data; rescale them: %w", ErrInput)
	}
	return nil
}

// freeEntries is the number of entries minus the number of parameters of a fit of n rows. It is at least a tenth of
// the entries.
func freeEntries(entries float64, n int, s sheet.Shape) float64 {
	return math.Max(entries-float64(n*s.Latent+s.D*(1+s.M)), entries/10)
}

// priorOf returns noise times the inverse of the covariance of tau. Eigenvalues of the covariance are raised to
// minVariance times the largest.
func priorOf(tau []float64, x Data, d int, noise float64) nearest.Prior {
	codes := Data{N: x.N, D: d, X: tau, Weights: x.Weights}
	mean, total := rows.Mean(codes), codes.TotalWeight()
	eigen := dense.NewSymmetricEigen(d)
	for i := range x.N {
		for j := range d {
			for k := range d {
				eigen.A[j*d+k] += x.Weight(i) / total * (codes.Row(i)[j] - mean[j]) * (codes.Row(i)[k] - mean[k])
			}
		}
	}
	eigen.FactorizeOrIdentity()
	largest := eigen.Values[d-1]
	prior := make(nearest.Prior, d*d)
	if !(largest > 0) {
		return prior
	}
	for v, variance := range eigen.Values {
		by := noise / math.Max(variance, minVariance*largest)
		for j := range d {
			for k := range d {
				prior[j*d+k] += by * eigen.A[j*d+v] * eigen.A[k*d+v]
			}
		}
	}
	return prior
}

// turnToPrior rotates the latent coordinates of a point so that the prior of the incomplete rows is least. The axes
// of their second moments become those of the prior, the longest along the weakest. The rest of the objective does
// not depend on rotations, so that solvers would take hundreds of iterations to find this rotation if few rows are
// incomplete.
func (p *Problem) turnToPrior(x framework.Point) {
	if p.Prior == nil {
		return
	}
	f, d, tau := p.NewSheet(), p.Shape().Latent, x[BlockTau]
	moments, prior := dense.NewSymmetricEigen(d), dense.NewSymmetricEigen(d)
	copy(prior.A, p.Prior)
	for i := range p.Data().N {
		if p.Prior.Of(*p.Data(), i) != nil {
			dense.AddOuterProduct(moments.A, tau[i*d:(i+1)*d], p.Data().Weight(i))
		}
	}
	if !moments.Factorize() || !prior.Factorize() {
		return
	}
	turn := make([]float64, d*d)
	for v := range d {
		for j := range d {
			for k := range d {
				turn[j*d+k] += prior.A[j*d+v] * moments.A[k*d+d-1-v]
			}
		}
	}
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	f.TurnLatent(tau, turn, make([]float64, d*(d+2)))
	dense.Transpose(x[BlockQ], f.QT, f.M, f.D)
	copy(x[BlockTheta], f.Theta)
}

// minVariance is the least variance of a latent coordinate, relative to the largest.
const minVariance = 1e-8

// turned returns the prior for tau R', given U before and after the rotation R: U' = U R'.
func turned(p nearest.Prior, before, after []float64, D, d int) nearest.Prior {
	if p == nil {
		return nil
	}
	var r, rp, out mat.Dense
	r.Mul(mat.NewDense(D, d, after).T(), mat.NewDense(D, d, before))
	rp.Mul(&r, mat.NewDense(d, d, p))
	out.Mul(&rp, r.T())
	return nearest.Prior(out.RawMatrix().Data)
}
