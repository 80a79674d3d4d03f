package framework

import (
	"fmt"
	"math"
)

// SupportFunction is a loss that is a norm, of a row where it is [Radial] and of
// every entry where it is [Separable], and so the support function of the ball
// of its dual norm: loss(r) = max g'r over |g| <= 1, or over |g_k| <= 1. The g
// that attain it are the subgradients of the loss at r, and any g in the ball is
// an e-subgradient with e = loss(r) - g'r.
//
// Rounded over eps it is sqrt(t^2 + eps^2) - eps of the norm t.
type SupportFunction interface {
	Loss
	Smoother
	// ProjectDual moves every row of g to the nearest point of the ball.
	ProjectDual(g []float64, dim int)
}

// PowerSum is the loss sum_k |r_k|^p of a power p between 1 and 2, which has a
// gradient everywhere and infinite second derivatives where entries are 0. Rounded
// over eps it is sum_k (r_k^2 + eps^2)^(p/2) - eps^p.
type PowerSum interface {
	Loss
	Smoother
	// Power returns p.
	Power() float64
}

// PrimalDual is an [ArrowheadHessian] with kinks, a sum of support functions
// max g'r(x) over the g of a ball. Its dual variables g are what takes the place
// of r/sqrt(|r|^2 + eps^2), the gradient of the rounded support function, in
// Newton's method for the system
//
//	sum_i g_i' Dr_i = 0,   sqrt(|r_i|^2 + eps^2) g_i = r_i.
//
// Its quadratic model holds in a neighbourhood that does not shrink with eps,
// as that of the rounded cost does.
//
// For a [PowerSum] the second equation is (r^2 + eps^2)^(1-p/2) g = p r by entry,
// and g is in no ball: with p = 1 that is the system above.
//
// Sources: T. F. Chan, G. H. Golub, P. Mulet, A nonlinear primal-dual method for
// total variation-based image restoration, SIAM J. Sci. Comput. 20 (1999);
// K. D. Andersen, E. Christiansen, A. R. Conn, M. L. Overton, An efficient
// primal-dual interior-point method for minimizing a sum of Euclidean norms,
// SIAM J. Sci. Comput. 22 (2000).
type PrimalDual interface {
	ArrowheadHessian
	Smoothable
	// DualScale returns the number of dual variables and the typical size of
	// what is rounded at x, a residual. The number is 0 where the cost is no sum
	// of support functions or powers, or has no kink near x.
	DualScale(x Point) (n int, scale float64, err error)
	// StartDual writes the gradients of the rounded support functions at x.
	StartDual(dual []float64, x Point) error
	// AssemblePrimalDual is AssembleHessian for the rounded cost, with the
	// second derivatives of the system above in place of those of the cost. The
	// gradients are those of the rounded cost.
	AssemblePrimalDual(a *Arrowhead, x Point, dual []float64) (cost, passes float64, err error)
	// MoveDual moves dual by the fraction given of the step that belongs to the
	// step v, w of the blocks from x, and back into the balls.
	MoveDual(dual []float64, x Point, v, w []float64, fraction float64) error
	// ShortenInner lets every inner row of x that is better off, by the rounded
	// cost, where it was in from, go there or part of the way back, and returns the
	// rounded cost.
	ShortenInner(x Point, from []float64) (cost, passes float64, err error)
	// SetMultipliers lets [Certifier] measure with these dual variables too, of
	// which it keeps a copy; nil stands for none.
	SetMultipliers(dual []float64)
}

// PrimalDual returns the problem's capability of that name, if it has it.
func (e *Evaluator) primalDual() (PrimalDual, bool) {
	p, ok := e.problem.(PrimalDual)
	return p, ok
}

// DualScale returns that of the problem at x, 0 where it is no [PrimalDual]. It
// counts as one pass, or none where it is 0.
func (e *Evaluator) DualScale(x Point) (n int, scale float64, err error) {
	p, ok := e.primalDual()
	if !ok {
		return 0, 0, nil
	}
	if err := e.admit(0); err != nil {
		return 0, 0, err
	}
	e.lastValid = false
	if n, scale, err = p.DualScale(x); err != nil {
		return 0, 0, e.failure(err)
	}
	if n > 0 {
		e.counts.Passes++
	}
	return n, scale, nil
}

// StartDual writes the dual variables that belong to x; see [PrimalDual].
func (e *Evaluator) StartDual(dual []float64, x Point) error {
	if err := e.admit(0); err != nil {
		return err
	}
	p, _ := e.primalDual()
	e.lastValid = false
	e.counts.Passes++
	if err := p.StartDual(dual, x); err != nil {
		return e.failure(err)
	}
	return nil
}

// AssemblePrimalDual computes the derivatives of the primal-dual system; see
// [PrimalDual]. It counts and treats costs as AssembleHessian does.
func (e *Evaluator) AssemblePrimalDual(a *Arrowhead, x Point, dual []float64) (float64, error) {
	if err := e.admit(1); err != nil {
		return math.Inf(1), err
	}
	p, _ := e.primalDual()
	e.lastValid = false
	cost, passes, err := p.AssemblePrimalDual(a, x, dual)
	if err != nil {
		return math.Inf(1), e.failure(fmt.Errorf("primal-dual derivatives: %w", err))
	}
	e.counts.Evaluations++
	e.counts.Passes += passes
	if cost, err = e.judgeCost(cost); err != nil || math.IsInf(cost, 0) {
		return cost, err
	}
	if !a.Finite() {
		return cost, fmt.Errorf("%w: the primal-dual derivatives have NaN or Inf at a point of finite cost", ErrNonFinite)
	}
	return cost, nil
}

// MoveDual moves the dual variables along with the blocks; see [PrimalDual].
func (e *Evaluator) MoveDual(dual []float64, x Point, v, w []float64, fraction float64) error {
	p, _ := e.primalDual()
	e.lastValid = false
	e.counts.Passes++
	if err := p.MoveDual(dual, x, v, w, fraction); err != nil {
		return e.failure(err)
	}
	return nil
}

// ShortenInner shortens the steps of inner rows; see [PrimalDual]. It counts and
// treats costs as InnerStep does.
func (e *Evaluator) ShortenInner(x Point, from []float64) (float64, error) {
	if err := e.admit(1); err != nil {
		return math.Inf(1), err
	}
	p, _ := e.primalDual()
	e.lastValid = false
	cost, passes, err := p.ShortenInner(x, from)
	if err != nil {
		return math.Inf(1), e.failure(fmt.Errorf("inner rows: %w", err))
	}
	e.counts.Evaluations++
	e.counts.Passes += passes
	return e.judgeCost(cost)
}

// SetMultipliers hands dual variables to the measure of stationarity; see
// [PrimalDual].
func (e *Evaluator) SetMultipliers(dual []float64) {
	if p, ok := e.primalDual(); ok {
		p.SetMultipliers(dual)
	}
}

// Stationarity returns the largest of the numbers by which the run is judged, at x.
func (e *Evaluator) Stationarity(x Point) (float64, error) {
	if err := e.admit(0); err != nil {
		return math.Inf(1), err
	}
	s, err := e.stationarity(x)
	if err != nil {
		return math.Inf(1), e.failure(fmt.Errorf("stationarity: %w", err))
	}
	return worst(s), nil
}
