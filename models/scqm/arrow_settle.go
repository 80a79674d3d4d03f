package scqm

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"gonum.org/v1/gonum/floats"
)

// settleHalvings bounds how often the Newton step of a row is halved.
const settleHalvings = 4

// SettleInner gives every tau_i the better one of its value in x and in other,
// and then one damped Newton step. For a radial loss that is a step of the
// orthogonal projection on the sheet, a problem in R^m. Rows of weight zero stay
// where they are.
func (p *Problem) SettleInner(x framework.Point, other []float64) (cost, passes float64, err error) {
	a, f := p.prepareArrow(x), p.sheet
	a.seen.kept = false
	if a.seesAll() {
		a.frame.complete()
		a.turnLoss(p)
	}
	a.settlement = settleShard{x[BlockTau], other}
	if err := p.eachShard(a, &a.settlement); err != nil {
		return 0, 0, err
	}
	if a.seesAll() {
		a.seen.keep(f)
	}
	for shard, s := range a.sums {
		cost += s.cost
		passes += a.passes[shard]
	}
	return cost + p.penalty(nil, x[BlockTheta]), passes / float64(p.data.N), nil
}

// seesAll reports whether settling looks at rows in the whole frame.
func (a *arrow) seesAll() bool {
	return a.structure == framework.StructureQuadratic || a.structure == framework.StructureRadial && a.f.m == a.f.D
}

// settleShard settles some rows.
type settleShard struct{ tau, other []float64 }

func (job *settleShard) run(p *Problem, a *arrow, w *arrowWorker, shard, lo, hi int) error {
	s := a.sums[shard]
	s.cost, a.passes[shard] = 0, 0
	for from := lo; from < hi; from += w.batch {
		to := min(from+w.batch, hi)
		if a.structure == framework.StructureRadial || a.structure == framework.StructureQuadratic {
			a.passes[shard] += job.walk(p, a, w, from, to)
		} else {
			passes, err := job.general(p, a, w, from, to)
			if err != nil {
				return fmt.Errorf("scqm: loss %s: %w", p.loss.Name(), err)
			}
			a.passes[shard] += passes
		}
		for i := from; i < to; i++ {
			if weight := p.data.weight(i); weight > 0 {
				s.cost += weight * w.value[i-from]
			}
		}
	}
	return nil
}

// walk settles rows in the span of Q, leaves their losses in w.value, and
// returns the row evaluations done.
func (job *settleShard) walk(p *Problem, a *arrow, w *arrowWorker, from, to int) float64 {
	f, k := a.f, w.walker
	d, n := f.d, to-from
	if a.isSurface() {
		job.settleSurface(p, a, w, from, to)
		p.loss.(framework.Radial).Rho(w.value[:n], nil, nil, w.u[:n])
		return float64(n)
	}
	k.begin(a)
	for i := from; i < to; i++ {
		tau, other := job.tau[i*d:(i+1)*d], job.other[i*d:(i+1)*d]
		rest := k.look(a, p.data.Row(i), i)
		value := k.value(tau)
		if p.data.weight(i) > 0 {
			if v := k.value(other); v < value {
				value = v
				copy(tau, other)
			} else {
				k.value(tau)
			}
			value = k.step(tau, value)
		}
		w.u[i-from] = value + rest
	}
	switch {
	case a.structure == framework.StructureQuadratic:
		copy(w.value[:n], w.u)
		return float64(n) * float64(f.D) / float64(f.m)
	case a.seesAll():
		p.loss.(framework.Radial).Rho(w.value[:n], nil, nil, w.u[:n])
		return float64(n)
	default:
		p.loss.(framework.Radial).Rho(w.value[:n], nil, nil, w.u[:n])
		return 2 * float64(n)
	}
}

// settler holds what settling rows of any loss needs, for a batch of rows.
type settler struct {
	f         *sheet
	z, phi    []float64 // m, q
	b, w      []float64 // m, q
	e         []float64 // m x d
	tau       []float64 // n x d: the rows to evaluate
	step      []float64 // n x d
	grad      []float64 // n x d
	hess      []float64 // n x d x d
	value     []float64 // n
	jr        []float64 // d
	unsettled []bool    // n
}

func newSettler(f *sheet, n int) *settler {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &settler{
		f: f, z: vec(f.m), phi: vec(f.q), b: vec(f.m), w: vec(f.q), e: vec(f.m * f.d),
		tau: vec(n * f.d), step: vec(n * f.d), grad: vec(n * f.d), hess: vec(n * f.d * f.d),
		value: vec(n), jr: vec(f.d), unsettled: make([]bool, n),
	}
}

// general settles rows by their losses, which it leaves in w.value, and returns
// the row evaluations done.
func (job *settleShard) general(p *Problem, a *arrow, w *arrowWorker, from, to int) (float64, error) {
	s, d, n := w.settler, p.sheet.d, to-from
	tau, other := job.tau[from*d:to*d], job.other[from*d:to*d]
	if err := s.evaluate(p, w, w.value[:n], tau, from); err != nil {
		return 0, err
	}
	if err := s.evaluate(p, w, s.value[:n], other, from); err != nil {
		return 0, err
	}
	for i := range n {
		if s.value[i] < w.value[i] && p.data.weight(from+i) > 0 {
			w.value[i] = s.value[i]
			copy(tau[i*d:(i+1)*d], other[i*d:(i+1)*d])
		}
	}
	if err := s.newtonSteps(p, a, w, tau, from); err != nil {
		return 0, err
	}
	passes := 4.0
	for i := range n {
		s.unsettled[i] = p.data.weight(from+i) > 0
	}
	for t := 1.0; t > math.Ldexp(1, -settleHalvings); t /= 2 {
		floats.AddScaledTo(s.tau[:n*d], tau, t, s.step[:n*d])
		if err := s.evaluate(p, w, s.value[:n], s.tau, from); err != nil {
			return 0, err
		}
		passes++
		if !s.accept(w, tau, n) {
			break
		}
	}
	return passes * float64(n), nil
}

// accept moves the rows whose trial is no worse and reports whether any are
// left.
func (s *settler) accept(w *arrowWorker, tau []float64, n int) bool {
	d, left := s.f.d, false
	for i := range n {
		if !s.unsettled[i] {
			continue
		}
		if !(s.value[i] <= w.value[i]) {
			left = true
			continue
		}
		s.unsettled[i] = false
		w.value[i] = s.value[i]
		copy(tau[i*d:(i+1)*d], s.tau[i*d:(i+1)*d])
	}
	return left
}

// evaluate writes the losses of rows at the latent rows tau and leaves the
// residuals in w.r.
func (s *settler) evaluate(p *Problem, w *arrowWorker, values, tau []float64, from int) error {
	f, n := s.f, len(values)
	s.residuals(p, w, tau, from, n)
	return p.loss.Evaluate(values, nil, w.r[:n*f.D], f.D)
}

func (s *settler) residuals(p *Problem, w *arrowWorker, tau []float64, from, n int) {
	f := s.f
	for i := range n {
		f.coordinates(s.z, s.phi, tau[i*f.d:(i+1)*f.d])
		f.residual(w.r[i*f.D:(i+1)*f.D], s.z, p.data.Row(from+i))
	}
}

// newtonSteps computes the Newton step of every row.
func (s *settler) newtonSteps(p *Problem, a *arrow, w *arrowWorker, tau []float64, from int) error {
	f := s.f
	n, d, D := len(tau)/f.d, f.d, f.D
	s.residuals(p, w, tau, from, n)
	r, g := w.r[:n*D], w.g[:n*D]
	if err := p.loss.Evaluate(nil, g, r, D); err != nil {
		return err
	}
	for i := range n {
		f.pull(s.b, g[i*D:(i+1)*D])
		f.tauGradient(s.grad[i*d:(i+1)*d], s.w, tau[i*d:(i+1)*d], s.b)
		h := s.hess[i*d*d : (i+1)*d*d]
		clear(h)
		f.addCurvature(h, s.w)
	}
	for j := range d {
		if err := s.addColumn(a.second, w, tau, j); err != nil {
			return err
		}
	}
	for i := range n {
		newtonStep(s.step[i*d:(i+1)*d], s.hess[i*d*d:(i+1)*d*d], s.grad[i*d:(i+1)*d])
	}
	return nil
}

// addColumn adds column j of E'Q' (hess loss) QE to the Hessians.
func (s *settler) addColumn(second framework.SecondOrder, w *arrowWorker, tau []float64, j int) error {
	f := s.f
	n, d, D := len(tau)/f.d, f.d, f.D
	column := w.column[:n*D]
	clear(column)
	for i := range n {
		f.jacobian(s.e, tau[i*d:(i+1)*d])
		for k := range f.m {
			floats.AddScaled(column[i*D:(i+1)*D], s.e[k*d+j], f.axis(k))
		}
	}
	if err := second.HessianProduct(column, w.r[:n*D], column, D); err != nil {
		return err
	}
	for i := range n {
		f.pull(s.b, column[i*D:(i+1)*D])
		f.tauGradient(s.jr, s.w, tau[i*d:(i+1)*d], s.b)
		for l, v := range s.jr {
			s.hess[i*d*d+l*d+j] += v
		}
	}
	return nil
}
