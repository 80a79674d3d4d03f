package columns

import (
	"gonum.org/v1/gonum/floats"
)

// Finish ends a fit. It keeps the memory of two Newton systems.
type Finish struct {
	*Problem
	Sheet        Sheet
	Multipliers  []float64 // D x n, in [-1, 1]
	Cost         float64   // with the penalty
	Residual     float64   // the largest first-order residual of a block, or the part of the cost by which the multipliers miss it
	Iterations   int       // systems that were solved
	sys          *system
	trial        *trial
	inner        *inner
	next         Sheet
	step, held   step
	first, slack float64 // see measure
	r, w, slope  []float64
	dr, g2       []float64
	gu, gv       []float64
	l            []float64
	stopped      func() bool
}

// NewFinish begins at a sheet with orthonormal Q.
func NewFinish(p *Problem, from Sheet) *Finish {
	vec := func(n int) []float64 { return make([]float64, n) }
	f := &Finish{Problem: p, g2: vec(p.D * p.N), Sheet: from.clone(), Multipliers: vec(p.D * p.N), sys: p.newSystem(), trial: p.newTrial(), inner: p.newInner(),
		next: p.newSheet(), r: vec(p.D * p.N), w: vec(p.D * p.N), slope: vec(p.D * p.N), dr: vec(p.D * p.N), l: vec(p.m * p.m)}
	f.step, f.held = f.sys.newStep(), f.sys.newStep()
	f.gu, f.gv = vec(p.D*p.a), vec(f.sys.nv)
	return f
}

const (
	firstLength = .1 // of the rounding, in mean sizes of residuals that are not zero
	lastLength  = 2e-4
	shorter     = .3
	stageSteps  = 60
	// promise ends a stage where a step promises this part of what the rounding adds.
	promise = 1e-5
)

// smooth follows the minimum of the rounded cost as the rounding shrinks.
func (f *Finish) smooth() {
	f.sys.move(f.Sheet)
	f.residuals(f.r, f.Sheet, f.sys.at)
	scale := meanSize(f.r)
	slopes(f.Multipliers, f.w, f.r, f.Multipliers, firstLength*scale)
	damp := 1e-4
	for length := firstLength; length > lastLength && !f.stopped(); length *= shorter {
		mu := length * scale
		cost := rounded(f.r, mu) + f.penalty(f.Sheet)
		for range stageSteps {
			promised, after, ok := f.newton(cost, mu, &damp)
			f.Iterations++
			cost = after
			if !ok || f.stopped() || promised < promise*length*cost {
				break
			}
		}
		damp = min(damp, 1e-3)
	}
	f.sys.move(f.Sheet)
	f.Cost = rounded(f.r, 0) + f.penalty(f.Sheet)
}

// meanSize is the mean size of the residuals above rounding errors.
func meanSize(r []float64) float64 {
	sum, n := 0., 0
	for _, v := range r {
		if v = max(v, -v); v > 1e-8 {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(max(n, 1))
}

// newton takes a damped step of all unknowns and settles the columns after it. It returns what the step promised and
// the cost after it; false where none lowers that.
func (f *Finish) newton(cost, mu float64, damp *float64) (promised, after float64, ok bool) {
	s := f.sys
	s.move(f.Sheet)
	slopes(f.slope, f.w, f.r, f.Multipliers, mu)
	s.assemble(f.w, f.Multipliers)
	s.gradients(f.gu, f.gv, f.slope)
	s.turning(f.l, f.Sheet.Q, f.gu)
	s.tangent(f.gu, f.Sheet.Q, f.l)
	s.turn(f.l)
	f.penalize(f.gv, f.Sheet.Theta)
	for i, v := range s.ridge {
		s.v[i*s.nv+i] += v
	}
	for tries := range 14 {
		if f.stopped() {
			break
		}
		if s.factor(*damp) {
			s.solve(f.step.du, f.step.dv, f.gu, f.gv)
			promised = -(floats.Dot(f.gu, f.step.du) + floats.Dot(f.gv, f.step.dv)) / 2
			if f.trial.take(f.next, f.Sheet, f.Problem, f.step.du, f.step.dv) {
				s.linear(f.dr, f.step)
				g := append(f.g2[:0], f.Multipliers...)
				follow(g, f.slope, f.w, f.dr)
				after = rounded(f.trial.residuals, mu) + f.penalty(f.next)
				after = f.inner.settle(f.next, f.trial.at, f.trial.residuals, g, mu, after)
				if after <= cost {
					if tries == 0 && cost-after > promised/2 {
						*damp = max(*damp/10, 1e-13)
					} else if cost-after < promised/10 {
						*damp *= 4
					}
					f.Sheet.copyFrom(f.next)
					copy(f.Multipliers, g)
					copy(f.r, f.trial.residuals)
					return promised, after, true
				}
			}
		}
		*damp = max(*damp, 1e-10) * 10
	}
	return 0, cost, false
}
