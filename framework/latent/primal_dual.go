package latent

import "github.com/scqm/scqm/framework"

// PrimalDual is an [ArrowheadHessian] whose cost has kinks: a sum of support functions max g'r(x) over g in a ball.
// Newton's method treats its dual variables g as unknowns that replace r/sqrt(|r|^2 + eps^2), the gradient of the
// smoothed support function, in the system
//
//	sum_i g_i' Dr_i = 0,   sqrt(|r_i|^2 + eps^2) g_i = r_i.
//
// Its quadratic model is valid in a neighbourhood that does not shrink with eps, unlike that of the smoothed cost.
//
// For a [rowloss.PowerSum] the second equation is (r^2 + eps^2)^(1-p/2) g = p r by entry, and g is not restricted to
// a ball. With p = 1 this is the system above.
//
// Sources: T. F. Chan, G. H. Golub, P. Mulet, A nonlinear primal-dual method for
// total variation-based image restoration, SIAM J. Sci. Comput. 20 (1999);
// K. D. Andersen, E. Christiansen, A. R. Conn, M. L. Overton, An efficient
// primal-dual interior-point method for minimizing a sum of Euclidean norms,
// SIAM J. Sci. Comput. 22 (2000).
type PrimalDual interface {
	ArrowheadHessian
	framework.Smoothable
	// DualScale returns the number of dual variables and the typical size of the smoothed residuals at x. The number
	// is 0 if the cost is not a sum of support functions or powers, or has no kink near x.
	DualScale(x framework.Point) (n int, scale float64, err error)
	// StartDual writes the gradients of the smoothed support functions at x.
	StartDual(dual []float64, x framework.Point) error
	// AssemblePrimalDual is AssembleHessian for the smoothed cost, with the second derivatives of the system above in
	// place of those of the cost. The gradients are those of the smoothed cost.
	AssemblePrimalDual(a *Arrowhead, x framework.Point, dual []float64) (cost, passes float64, err error)
	// MoveDual moves dual by the given fraction of the step that belongs to the step v, w of the blocks from x, and
	// projects it back into the balls.
	MoveDual(dual []float64, x framework.Point, v, w []float64, fraction float64) error
	// ShortenInner moves every inner row of x whose smoothed cost was lower in from back to from or part of the way.
	// It returns the smoothed cost.
	ShortenInner(x framework.Point, from []float64) (cost, passes float64, err error)
	// SetMultipliers gives [framework.Certifier] these dual variables for its measure of stationarity, by copy; nil
	// stands for none.
	SetMultipliers(dual []float64)
}

// DualScale returns the DualScale of the problem at x, 0 if it is not a [PrimalDual]. It counts as one pass, or none
// if it is 0.
func DualScale(e *framework.Evaluator, x framework.Point) (n int, scale float64, err error) {
	p, ok := framework.As[PrimalDual](e.Problem())
	if !ok {
		return 0, 0, nil
	}
	err = e.Charge(0, func() (err error) {
		if n, scale, err = p.DualScale(x); n > 0 && err == nil {
			e.Count(0, 1)
		}
		return err
	})
	return n, scale, err
}

// StartDual writes the dual variables that belong to x; see [PrimalDual].
func StartDual(e *framework.Evaluator, dual []float64, x framework.Point) error {
	p, _ := framework.As[PrimalDual](e.Problem())
	return e.Charge(0, func() error {
		e.Count(0, 1)
		return p.StartDual(dual, x)
	})
}

// AssemblePrimalDual computes the derivatives of the primal-dual system; see
// [PrimalDual]. It counts and treats costs as AssembleHessian does.
func AssemblePrimalDual(e *framework.Evaluator, a *Arrowhead, x framework.Point, dual []float64) (float64, error) {
	p, _ := framework.As[PrimalDual](e.Problem())
	return assemble(e, a, "primal-dual derivatives", func() (cost, passes float64, err error) {
		return p.AssemblePrimalDual(a, x, dual)
	})
}

// MoveDual moves the dual variables along with the blocks; see [PrimalDual].
func MoveDual(e *framework.Evaluator, dual []float64, x framework.Point, v, w []float64, fraction float64) error {
	p, _ := framework.As[PrimalDual](e.Problem())
	return e.Charge(0, func() error {
		e.Count(0, 1)
		return p.MoveDual(dual, x, v, w, fraction)
	})
}

// ShortenInner shortens the steps of inner rows; see [PrimalDual]. It counts and
// treats costs as InnerStep does.
func ShortenInner(e *framework.Evaluator, x framework.Point, from []float64) (float64, error) {
	p, _ := framework.As[PrimalDual](e.Problem())
	return chargeCost(e, "inner rows", func() (cost, passes float64, err error) { return p.ShortenInner(x, from) })
}

// SetMultipliers passes dual variables to the measure of stationarity; see [PrimalDual].
func SetMultipliers(e *framework.Evaluator, dual []float64) {
	if p, ok := framework.As[PrimalDual](e.Problem()); ok {
		p.SetMultipliers(dual)
	}
}
