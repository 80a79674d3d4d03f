package columns

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	firstNear = 1e-3
	// models bounds the convex models that are solved.
	models = 25
	// freer bounds the models at one sheet that only measure.
	freer = 2
)

// Run goes to the end of the fit, or until stopped says so between two systems.
func (f *Finish) Run(tol float64, stopped func() bool) {
	f.stopped = stopped
	f.smooth()
	f.certify(tol)
}

// certify solves convex models until the multipliers of one show the sheet to be stationary to the tolerance given.
func (f *Finish) certify(tol float64) {
	o, near := f.sys.newProximal(), firstNear
	for range models {
		if f.stopped() {
			return
		}
		f.sys.move(f.Sheet)
		f.residuals(f.r, f.Sheet, f.sys.at)
		f.Iterations += o.run(f.r, near, f.stopped)
		if f.shown(o, tol) || f.stopped() || f.shownFreely(o, near, tol) {
			return
		}
		o.linear(f.dr, o.x)
		model := 0.
		for i, v := range f.r {
			model += math.Abs(v + f.dr[i])
		}
		if !f.trial.take(f.next, f.Sheet, f.Problem, o.x.du, o.x.dv) {
			return
		}
		pen := f.penalty(f.next)
		promised, after := f.Cost-model-pen, rounded(f.trial.residuals, 0)+pen
		if !(after < f.Cost) {
			near *= 6
			continue
		}
		switch gain := f.Cost - after; {
		case gain > .75*promised:
			near /= 6
		case gain < .25*promised:
			near *= 3
		}
		f.Sheet.copyFrom(f.next)
		f.Cost = after
	}
}

// shownFreely is shown by models that hold steps back less. What is held is most of the first-order residual near the end;
// without it the multipliers may do, while a shorter step is taken.
func (f *Finish) shownFreely(o *proximal, near, tol float64) bool {
	if f.slack > tol/2 {
		return false
	}
	f.held.copy(o.x)
	for range freer {
		if f.slack > tol {
			break
		}
		near *= .1 * min(1, tol/f.first)
		f.Iterations += o.run(f.r, near, f.stopped)
		if f.shown(o, tol) {
			return true
		}
	}
	o.x.copy(f.held)
	return false
}

// shown reports whether the multipliers of a model show the sheet to be stationary.
func (f *Finish) shown(o *proximal, tol float64) bool {
	copy(f.Multipliers, o.g)
	f.measure()
	return f.Residual <= tol
}

// measure is the largest of the first-order residuals of the blocks at the multipliers, each relative to what it is a sum
// of, and of the part of the cost by which they are no subgradients.
func (f *Finish) measure() {
	s, d := f.sys, f.Latent
	s.gradients(f.gu, f.gv, f.Multipliers)
	s.turning(f.l, f.Sheet.Q, f.gu)
	s.tangent(f.gu, f.Sheet.Q, f.l)
	f.penalize(f.gv, f.Sheet.Theta)
	var c, q, tau, ofC, ofQ, ofTheta, ofTau float64
	for i, v := range f.gu {
		if i%f.a == 0 {
			c += v * v
		} else {
			q += v * v
		}
	}
	for i := range f.N {
		size := 0.
		for k := range f.D {
			size += f.Multipliers[k*f.N+i] * f.Multipliers[k*f.N+i]
		}
		size = math.Sqrt(size)
		ofC += size
		ofQ += size * floats.Norm(s.at.z[i*f.a+1:(i+1)*f.a], 2)
		ofTheta += size * floats.Norm(s.at.phi[i*f.q:(i+1)*f.q], 2)
		ofTau += size * floats.Norm(s.slopes[i*f.m*d:(i+1)*f.m*d], 2)
		tau += floats.Norm(f.gv[s.nT+i*d:s.nT+(i+1)*d], 2)
	}
	slack := 0.
	for i, v := range f.r {
		slack += math.Abs(v) - f.Multipliers[i]*v
	}
	theta := 0.
	if s.nT > 0 && ofTheta > 0 {
		theta = floats.Norm(f.gv[:s.nT], 2) / ofTheta
	}
	f.first, f.slack = max(math.Sqrt(c)/ofC, math.Sqrt(q)/ofQ, theta, tau/ofTau), slack/floats.Norm(f.r, 1)
	f.Residual = max(f.first, f.slack)
}
