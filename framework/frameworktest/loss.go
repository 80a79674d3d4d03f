package frameworktest

import (
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// TestLoss fails t for every law that [CheckLoss] finds broken.
func TestLoss(t TB, l framework.Loss, o LossOptions) {
	t.Helper()
	CheckLoss(l, o).test(t)
}

// CheckLoss tests the laws of [framework.Loss], and of every optional interface that l implements, on random residual
// rows. It takes a few hundred evaluations of small batches. If one of the first three laws is broken, the others are
// not tested.
//
// The laws:
//
//   - name: the loss has a name, and takes rows of the length checked.
//   - finite: values and gradients of ordinary rows are all written, finite.
//   - not negative: values are at least 0.
//   - residuals kept: residuals are not modified.
//   - deterministic: a second evaluation gives the same bits.
//   - parts: values without gradients, and the reverse, are the same; asking
//     for neither is allowed.
//   - in place: the gradient may overwrite the residuals.
//   - batch equals single: neither the batch nor the order of its rows changes
//     the results of a row.
//   - empty batch: a batch without rows is allowed.
//   - concurrent: calls at the same time do not disturb each other.
//   - row length: a [rowloss.Dimensioned] loss refuses others with an error.
//   - gradient slope: loss(r + tv) - loss(r) - t v'gradient has Taylor slope 2
//     away from kinks.
//   - convex: midpoints lie below chords and tangents below the loss, also the
//     tangent at 0.
//   - zero residual: at r = 0 everything the loss offers is finite.
//   - non-finite residuals: NaN or Inf leave the other rows alone, or give an error.
//   - large residuals, tiny residuals: rows of size 1e150 and 1e-150 give no
//     NaN unless the loss overflows, and rows of size 1e-150 no Inf.
//   - Hessian slope: with HessianProduct the remainder has slope 3.
//   - Hessian symmetric, Hessian in place.
//   - radial form, radial slopes, rotation: Rho agrees with Evaluate, d1 and d2
//     are its derivatives, and rotated residuals give rotated gradients.
//   - separable form, separable slopes: Phi agrees with Evaluate and with
//     HessianProduct, d1 and d2 are its derivatives.
//   - matrix form: Matrix is symmetric and r'Mr and 2Mr agree with Evaluate.
//   - weights, majorizer: weights are finite and at least 0, also at r = 0; the
//     quadratic lies above the loss.
//   - smoothing: Smooth(0) is the loss itself; Smooth(eps) has its name and
//     form, and differs from it by at most a constant times eps.
//   - smoothed gradient slope, smoothed Hessian slope: as above, also at r = 0.
//   - rescaling: Rescale(u) gives a loss of the same name and a factor with
//     loss(u r) = factor l(r), for u above and below 1.
func CheckLoss(l framework.Loss, o LossOptions) *Report {
	c := &lossCheck{Report: &Report{Subject: "loss"}, loss: l, o: o, rng: rand.New(rand.NewPCG(o.Seed, 2))}
	for _, step := range []struct {
		law   string
		trial func() error
	}{{"name", c.name}, {"finite", c.finite}, {"not negative", c.notNegative}} {
		if c.try(step.law, step.trial); !c.OK() {
			return c.Report
		}
	}
	c.checkCalls()
	c.slopeLaw("gradient slope", 2, func() (*expansion, error) { return c.expand(l, c.rows, c.sideways(), 1) })
	if !o.NonConvex {
		c.try("convex", c.convex)
	}
	c.checkExtremes()
	c.checkSecondOrder()
	c.checkRadial()
	c.checkSeparable()
	if q, ok := l.(framework.Quadratic); ok {
		c.try("matrix form", func() error { return c.matrixForm(q) })
	}
	c.checkMajorizer()
	c.checkSmoother()
	if s, ok := l.(rowloss.Rescaler); ok {
		c.try("rescaling", func() error { return c.rescaling(s) })
	}
	return c.Report
}
