package latent

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// A probe of second order walks both ways along the directions of lowest
// curvature of the Schur complement
//
//	S = A - sum_i B_i C_i^-1 B_i',
//
// scaled to a diagonal of A of 1, for a few lengths, settles the inner rows
// there and compares costs. An eigenvalue says less: on a plateau it is zero to
// rounding with either sign, and the gradient has no part along its direction.

const (
	// MaxProbedOuter bounds the order of S, maxProbedEntries the entries of B, and maxProbedWork the products for S.
	// Beyond these bounds probing would cost more than the iterations before, and a point is judged by its gradient
	// only.
	MaxProbedOuter   = 256
	maxProbedEntries = 1 << 23
	maxProbedWork    = 1 << 25
	// alwaysProbedOuter is the order up to which maxProbedWork does not apply.
	alwaysProbedOuter = 64
	// probed is the number of directions, and stiff the eigenvalue above which none is probed.
	probed = 2
	stiff  = 1e-5
	// nullSpace is the size of eigenvalues that may be due to rounding. Such directions come in clusters, for example
	// from transformations that leave the cost unchanged, so that up to maxProbed of them are probed.
	nullSpace = 1e-8
	maxProbed = 8
	// firstLength is the first step length in units of sqrt(F), for which an eigenvalue of 1 would raise the cost F
	// by 5e-5 F. The length grows by factors of ten.
	firstLength, lastLength = 1e-2, 1e2
	// tooHigh is the relative rise of the cost above which a direction is abandoned.
	tooHigh = 1e-2
	// settling bounds the inner steps at a probed point. They end when a step gains no more than the fraction settled
	// of the cost.
	settling = 12
	settled  = 1e-10
)

// prober holds the memory of probes.
type prober struct {
	*Arrowhead
	s          []float64 // P x P, its lower triangle
	spectral   *dense.Spectral
	scale      []float64
	outer      []float64
	moved      []float64 // the inner block
	trial      framework.Point
	lowest     framework.Point
	lowestCost float64
}

// Probeable reports whether points of a problem with derivatives of that shape are probed.
func (s ArrowheadShape) Probeable() bool {
	entries := maxProbedEntries
	if s.Outer > alwaysProbedOuter {
		entries = min(entries, maxProbedWork/s.Outer)
	}
	return s.Outer <= MaxProbedOuter && s.Outer*s.Dim <= entries/max(s.Rows, 1)
}

func newProber(shape ArrowheadShape, blocks []framework.Block) *prober {
	return &prober{
		Arrowhead: NewArrowhead(shape), s: make([]float64, shape.Outer*shape.Outer),
		scale: make([]float64, shape.Outer), outer: make([]float64, shape.Outer),
		moved: make([]float64, shape.Inner()), trial: framework.NewPoint(blocks), lowest: framework.NewPoint(blocks),
	}
}

// search stores the lowest point that it finds, and returns how much lower it is than x after inner steps.
func (p *prober) search(e *framework.Evaluator, x framework.Point) (float64, error) {
	cost, err := AssembleHessian(e, p.Arrowhead, x)
	if errors.Is(err, framework.ErrNonFinite) || err == nil && math.IsInf(cost, 0) { // on a kink
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !p.eliminate() {
		return 0, nil
	}
	if p.spectral == nil {
		p.spectral = dense.NewSpectral(p.Outer)
	}
	if !p.spectral.Factorize(p.s) {
		return 0, nil
	}
	// What the inner rows gain where they are is no gain of a direction.
	clear(p.outer)
	base, err := p.settle(e, x, math.Inf(1))
	if err != nil {
		return 0, err
	}
	cost = math.Min(cost, base)
	p.lowestCost = cost
	direction, places := make([]float64, p.Outer), make([]int, p.Outer)
	values := slices.Clone(p.spectral.Values)
	floats.Argsort(values, places)
	for k, w := range values {
		if w > stiff || k >= maxProbed || k >= probed && w > nullSpace {
			break
		}
		clear(direction)
		direction[places[k]] = 1
		p.spectral.FromEigen(direction)
		for _, sign := range [...]float64{1, -1} {
			if err := p.walk(e, x, cost, w, sign, direction); err != nil {
				return 0, err
			}
		}
	}
	return cost - p.lowestCost, nil
}

// walk tries increasing lengths along a scaled direction until a decrease is no longer possible.
func (p *prober) walk(e *framework.Evaluator, x framework.Point, cost, curvature, sign float64, direction []float64) error {
	unit := sign * math.Sqrt(math.Abs(cost))
	last := cost
	for t := firstLength; curvature*t*t/2 <= tooHigh; t *= 10 {
		for q, v := range direction {
			p.outer[q] = t * unit * v * p.scale[q]
		}
		c, err := p.settle(e, x, p.lowestCost)
		if err != nil {
			return err
		}
		if c < p.lowestCost {
			p.lowestCost = c
			p.lowest.CopyFrom(p.trial)
		}
		if c-cost > tooHigh*math.Abs(cost) || t >= lastLength && !(c < last) {
			return nil
		}
		last = c
	}
	return nil
}

// settle moves the outer blocks and takes inner steps, as long as the cost may still fall below a given cost. It
// assumes that each Newton step gains less than the one before.
func (p *prober) settle(e *framework.Evaluator, x framework.Point, below float64) (float64, error) {
	if RetractOuter(e, p.trial, x, p.outer) != nil {
		return math.Inf(1), nil
	}
	copy(p.trial[p.Block], x[p.Block])
	p.follow(x[p.Block])
	last := math.Inf(1)
	for range settling {
		cost, err := InnerStep(e, p.trial, p.moved)
		if errors.Is(err, framework.ErrNonFinite) {
			return math.Inf(1), nil
		}
		if err != nil {
			return cost, err
		}
		copy(p.moved, p.trial[p.Block])
		gained := last - cost
		last = cost
		if cost-gained > below || !(gained > settled*math.Abs(cost)) {
			break
		}
	}
	return last, nil
}

// follow writes the inner rows that Newton's method predicts for the outer move.
func (p *prober) follow(inner []float64) {
	copy(p.moved, inner)
	d, n := p.Dim, p.Inner()
	t := make([]float64, n)
	for q, v := range p.outer {
		floats.AddScaled(t, v, p.B[q*n:(q+1)*n]) // F'v, see eliminate
	}
	for i := range p.Rows {
		r := p.C[i*d*d : (i+1)*d*d]
		for j := range d {
			for l := range d {
				p.moved[i*d+j] -= r[j*d+l] * t[i*d+l]
			}
		}
	}
}
