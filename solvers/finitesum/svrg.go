// Package finitesum minimises costs that are sums of very many terms by stochastic gradients.
//
// Begin with [SVRG], for a problem that is a [Problem].
package finitesum

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
)

// Problem is the capability that [SVRG] requires: a problem whose cost is a sum of terms.
type Problem interface {
	framework.Problem
	// Terms is the number of terms.
	Terms() int
	// TermsGradient writes the Euclidean gradient of the sum of some terms at x into every grad[k], none of which
	// is nil. A term may be listed more than once.
	TermsGradient(grad, x framework.Point, terms []int) error
}

// SVRG is the stochastic gradient method with variance reduction, on any manifolds. An iteration
// starts at x with the full gradient g, and takes the m steps
//
//	y+ = R(y, -t (1 - k/m) v),  v = g_B(y) - T(g_B(x) - g),  k = 0, ..., m - 1,
//
// g_B is the gradient of a batch B of random terms, scaled to estimate the full gradient, T is the transport from x
// to y, and R is the retraction. The m steps use half as many terms as there are; with the full gradient, this makes
// two reads of the data. The iteration ends at the last y if the cost is lower there; otherwise it restarts at x with
// t/4. The first t is 1/L, with L the largest curvature of some batches, found by power iterations. The steps shrink
// to 0 to remove the noise from the last y.
//
// Sources: R. Johnson, T. Zhang, Accelerating stochastic gradient descent using predictive
// variance reduction, NIPS 26 (2013); H. Sato, H. Kasai, B. Mishra, Riemannian stochastic
// variance reduced gradient algorithm with retraction and vector transport, SIAM J. Optim. 29
// (2019) 1444-1472.
//
// The zero value is ready to use.
type SVRG struct {
	// Batch is the number of terms of a batch; 0 stands for sqrt(Terms())/8.
	Batch int
	// Seed seeds the draws.
	Seed uint64
}

const (
	// trials, power: batches for the curvature, and power iterations on each.
	trials, power = 4, 6
	// shorter multiplies the step, in units of 1/L, after an iteration that failed, down to least.
	shorter, least = 0.25, 1e-6
	// rounding is the relative difference up to which costs count as equal.
	rounding = 1e-12
	// difference is the relative step for differences of gradients.
	difference = 0x1p-20
)

// Name returns "svrg".
func (SVRG) Name() string { return "svrg" }

// NewState returns an empty state for a stored run.
func (SVRG) NewState() framework.State { return &State{} }

// Lacks names the capability that a problem lacks, see [framework.UnsupportedError].
func (SVRG) Lacks(p framework.Problem) string {
	if s, ok := framework.As[Problem](p); !ok || s.Terms() < 1 {
		return "terms (a finitesum.Problem)"
	}
	return ""
}

// State is the state of a run of [SVRG].
type State struct {
	X    framework.Point
	Cost float64
	// Grad is the Riemannian gradient at X.
	Grad framework.Point
	// Caution is the step t in units of 1/L, Draws the number of iterations that were tried.
	Caution float64
	Draws   uint64

	y, trial, grad, at, back, v framework.Point
	terms                       []int
}

// Iterate returns the current point and its cost.
func (s *State) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient returns the Riemannian gradient at the iterate.
func (s *State) Gradient() framework.Point { return s.Grad }

// Init evaluates the start and its gradient.
func (a SVRG) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if l := a.Lacks(e.Problem()); l != "" {
		return nil, &framework.UnsupportedError{Solver: a.Name(), Lacks: l}
	}
	blocks := framework.Product(e.Blocks())
	s := &State{X: x, Grad: framework.NewPoint(blocks), Caution: 1}
	var err error
	if s.Cost, err = e.Evaluate(s.Grad, x); err != nil {
		return nil, err
	}
	blocks.Gradient(s.Grad, x, s.Grad)
	return s, nil
}

// run is an iteration under way.
type run struct {
	*State
	e      *framework.Evaluator
	p      Problem
	blocks framework.Product
	rng    *rand.Rand
	scale  float64 // number of terms over the size of a batch
}

// Step tries iterations until one lowers the cost.
func (a SVRG) Step(e *framework.Evaluator, state framework.State) error {
	r := &run{State: state.(*State), e: e, blocks: e.Blocks()}
	r.p, _ = framework.As[Problem](e.Problem())
	n := r.p.Terms()
	batch := a.Batch
	if batch <= 0 {
		batch = int(math.Ceil(math.Sqrt(float64(n)) / 8))
	}
	batch = min(batch, n)
	r.scale = float64(n) / float64(batch)
	if r.y == nil {
		for _, p := range []*framework.Point{&r.y, &r.trial, &r.grad, &r.at, &r.back, &r.v} {
			*p = framework.NewPoint(r.blocks)
		}
	}
	r.terms = make([]int, batch)
	for r.Caution > least {
		r.Draws++
		r.rng = rand.New(rand.NewPCG(a.Seed, r.Draws))
		moved, err := r.epoch()
		if err != nil {
			return err
		}
		if moved {
			return nil
		}
		r.Caution *= shorter
	}
	return framework.ErrNoProgress
}

// epoch takes the steps of one iteration and reports whether the cost is lower at the end.
func (r *run) epoch() (bool, error) {
	curvature, err := r.curvature()
	if err != nil || !(curvature > 0) {
		return false, err
	}
	step := r.Caution / curvature
	r.y.CopyFrom(r.X)
	steps := max(1, int(r.scale/2))
	for k := range steps {
		r.draw()
		if err := r.direction(); err != nil {
			return false, err
		}
		r.v.Scale(-step * (1 - float64(k)/float64(steps)))
		if r.blocks.Retract(r.trial, r.y, r.v) != nil || !r.trial.Finite() {
			return false, nil
		}
		r.y, r.trial = r.trial, r.y
	}
	if r.blocks.Restore(r.y) != nil { // against drift
		return false, nil
	}
	cost, err := r.e.Evaluate(r.grad, r.y)
	if err != nil || math.IsInf(cost, 0) {
		return false, err
	}
	r.blocks.Gradient(r.grad, r.y, r.grad)
	lower := cost < r.Cost-rounding*math.Abs(r.Cost)
	if !lower && !(cost <= r.Cost+rounding*math.Abs(r.Cost) && r.blocks.Norm(r.y, r.grad) < r.blocks.Norm(r.X, r.Grad)) {
		return false, nil
	}
	r.X.CopyFrom(r.y)
	r.Grad.CopyFrom(r.grad)
	r.Cost = cost
	return true, nil
}

// draw draws a batch.
func (r *run) draw() {
	n := r.p.Terms()
	if len(r.terms) == n {
		for i := range r.terms {
			r.terms[i] = i
		}
		return
	}
	for i := range r.terms {
		r.terms[i] = r.rng.IntN(n)
	}
}

// batch writes the Riemannian gradient at x, estimated by the batch, into dst.
func (r *run) batch(dst, x framework.Point) error {
	err := r.e.Charge(1/r.scale, func() error { return r.p.TermsGradient(dst, x, r.terms) })
	if err != nil {
		return err
	}
	if !dst.Finite() {
		return errors.Join(framework.ErrNonFinite, errors.New("the gradient of some terms has NaN or Inf"))
	}
	dst.Scale(r.scale)
	r.blocks.Gradient(dst, x, dst)
	return nil
}

// direction writes the direction v at y.
func (r *run) direction() error {
	if err := errors.Join(r.batch(r.v, r.y), r.batch(r.at, r.X)); err != nil {
		return err
	}
	r.at.AddScaled(-1, r.Grad)
	r.blocks.Transport(r.back, r.X, r.y, r.at)
	r.v.AddScaled(-1, r.back)
	return nil
}

// curvature is the largest norm of the Hessians of some batches at X, by power iterations with differences of
// gradients.
func (r *run) curvature() (float64, error) {
	var largest float64
	for range trials {
		r.draw()
		if err := r.batch(r.at, r.X); err != nil {
			return 0, err
		}
		for _, b := range r.v {
			for i := range b {
				b[i] = r.rng.NormFloat64()
			}
		}
		r.blocks.Project(r.v, r.X, r.v)
		for range power {
			length := r.blocks.Norm(r.X, r.v)
			if !(length > 0) {
				break
			}
			t := difference * math.Max(1, r.X.Norm()) / length
			r.v.Scale(t)
			if r.blocks.Retract(r.trial, r.X, r.v) != nil {
				break
			}
			if err := r.batch(r.grad, r.trial); err != nil {
				return 0, err
			}
			r.blocks.Transport(r.v, r.trial, r.X, r.grad)
			r.v.AddScaled(-1, r.at)
			r.v.Scale(1 / (t * length))
			largest = math.Max(largest, r.blocks.Norm(r.X, r.v))
		}
	}
	return largest, nil
}
