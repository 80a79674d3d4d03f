package arrowhead

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// maxRounds bounds the trials of a row after an outer step.
	maxRounds = 12
	// minDecrease is the relative decrease of its loss by a Newton step below which a row stops: the next step
	// gains the square of that.
	minDecrease = 1e-2
	// minStepLength is the step length below which a step is given up.
	minStepLength = 1e-3
	// minCurvature is the least curvature of a row, relative to the largest; smaller ones are raised to it.
	minCurvature = 1e-3
)

// innerNewton minimises loss(f(tau_i) - x_i) over tau_i for a batch of rows and any loss, by damped Newton
// steps of all rows at once, as losses are fastest on many residuals. Every round evaluates one trial of each
// open row and accepts it if the loss does not increase. Otherwise, for a separable loss, the step minimises
// the even parabolas that touch the loss with its slope: they majorize smoothed losses, whose second
// derivatives underestimate it. Then steps are shortened, as in [nearest.General].
//
// Unlike that it computes derivatives at every trial, which separable losses give almost for free, and ends
// early, as the outer blocks move next. A trial of a row takes 2Dm operations and its loss, a step Dd(m+d) more
// or, for a loss without structure, d products with its Hessian.
type innerNewton struct {
	f         *sheet.Sheet
	z, phi    []float64 // m, q
	b, w      []float64 // m, q
	e         []float64 // m x d
	je        []float64 // D x d: Qe
	column    []float64 // D
	jr        []float64 // d
	grad      []float64 // d
	hess      []float64 // d x d
	open      []int     // rows that still step
	tau       []float64 // n x d: the rows to evaluate
	step      []float64 // n x d
	length    []float64 // n: of the step
	minLength []float64 // n: the length at which a step is given up
	promise   []float64 // n: predicted reduction, minus the slope along the step
	parabolic []bool    // n: the step uses parabolas
	from      int       // the row that is number 0 of the batch
	trial     rowLosses // of the rows to evaluate
	current   rowLosses // of all rows where they are

	// Set by prepare.
	data  *rows.Data
	prior nearest.Prior
	rowLoss
}

func newInnerNewton(f *sheet.Sheet, n int) *innerNewton {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &innerNewton{
		f: f, z: vec(f.M), phi: vec(f.Q), b: vec(f.M), w: vec(f.Q), e: vec(f.M * f.Latent), je: vec(f.D * f.Latent),
		column: vec(f.D), jr: vec(f.Latent), grad: vec(f.Latent), hess: vec(f.Latent * f.Latent), open: make([]int, 0, n),
		tau: vec(n * f.Latent), step: vec(n * f.Latent), length: vec(n), minLength: vec(n), promise: vec(n), parabolic: make([]bool, n),
		trial: newRowLosses(n, f.D), current: newRowLosses(n, f.D),
	}
}

func (s *innerNewton) prepare(a *Hessian) {
	s.data, s.rowLoss, s.prior = a.o.Data(), a.rowLoss, a.o.Prior
}

// run steps until every row gains little or fails.
func (s *innerNewton) run(losses []float64, r innerRows) (evaluations float64, err error) {
	n, d := r.to-r.from, s.f.Latent
	tau, other := r.tau[r.from*d:r.to*d], r.other[r.from*d:r.to*d]
	s.openAll(n)
	if err := s.evaluateAt(tau, r.from); err != nil {
		return 0, err
	}
	s.trial, s.current = s.current, s.trial
	if err := s.evaluateAt(other, r.from); err != nil {
		return 0, err
	}
	s.open = s.open[:0]
	for i := range n {
		if !(s.data.Weight(r.from+i) > 0) {
			continue
		}
		s.open = append(s.open, i)
		if s.trial.value[i] < s.current.value[i] {
			s.current.copyRow(i, &s.trial, i, s.f.D)
			copy(tau[i*d:(i+1)*d], other[i*d:(i+1)*d])
		}
		if err := s.setStep(tau[i*d:(i+1)*d], i, false); err != nil {
			return 0, err
		}
	}
	done := 4 * n
	for round := 0; round < maxRounds && len(s.open) > 0; round++ {
		done += 2 * len(s.open)
		if err := s.round(tau, r.from); err != nil {
			return 0, err
		}
	}
	copy(losses, s.current.value)
	return float64(done), nil
}

// openAll marks n rows as open, to be stepped.
func (s *innerNewton) openAll(n int) {
	s.open = s.open[:0]
	for i := range n {
		s.open = append(s.open, i)
	}
}

// evaluateAt computes the losses of the open rows at the latent coordinates tau, which are packed: row k is
// that of open[k].
func (s *innerNewton) evaluateAt(tau []float64, from int) error {
	f, t := s.f, &s.trial
	n, d, D := len(s.open), f.Latent, f.D
	s.from = from
	if s.isSurface3D() {
		rowResiduals3D(f, t.r, *s.data, tau, s.open, from)
		return s.evaluate(t, n, D)
	}
	for k, i := range s.open {
		f.Coordinates(s.z, s.phi, tau[k*d:(k+1)*d])
		f.Residual(t.r[k*D:(k+1)*D], s.z, s.data.Row(from+i))
	}
	if err := s.evaluate(t, n, D); err != nil || s.prior == nil {
		return err
	}
	for k, i := range s.open {
		t.value[k] += s.priorOf(i).Value(tau[k*d : (k+1)*d])
	}
	return nil
}

// priorOf returns the prior of row i of the batch.
func (s *innerNewton) priorOf(i int) nearest.Prior { return s.prior.Of(*s.data, s.from+i) }

// isSurface3D reports whether the kernels of surfaces apply.
func (s *innerNewton) isSurface3D() bool {
	return isSurface3D(s.f) && !s.data.Missing
}

// setStep computes the step of row i from tau, where its losses are current.
func (s *innerNewton) setStep(tau []float64, i int, careful bool) error {
	d := s.f.Latent
	if err := s.derivatives(tau, i, careful); err != nil {
		return err
	}
	if !careful && s.structure == rowloss.StructureSeparable && floats.Norm(s.hess, math.Inf(1)) == 0 { // a piecewise linear loss
		return s.setStep(tau, i, true)
	}
	step := s.step[i*d : (i+1)*d]
	dense.NewtonStep(step, s.hess, s.grad, minCurvature)
	s.length[i], s.parabolic[i] = 1, careful
	// Losses are at least 0: a step with a larger predicted reduction is too long.
	s.promise[i] = -dense.Dot(s.grad, step)
	if limit := 2 * s.current.value[i]; s.promise[i] > limit {
		s.length[i] = limit / s.promise[i]
	}
	s.minLength[i] = minStepLength * s.length[i]
	return nil
}

// derivatives writes gradient and Hessian of row i with respect to tau.
func (s *innerNewton) derivatives(tau []float64, i int, careful bool) error {
	f := s.f
	D := f.D
	g, hessDiag := s.current.g[i*D:(i+1)*D], s.current.hessDiag[i*D:(i+1)*D]
	if careful {
		hessDiag = s.parabolas(hessDiag, i)
	}
	if s.structure == rowloss.StructureSeparable && s.isSurface3D() {
		rowDerivatives3D(f, s.grad, s.hess, tau, g, hessDiag)
		return nil
	}
	f.ToFrame(s.b, g)
	f.TauGradient(s.grad, s.w, tau, s.b)
	clear(s.hess)
	f.AddCurvature(s.hess, s.w)
	if prior := s.priorOf(i); prior != nil {
		prior.AddGradient(s.grad, tau, 1)
		prior.AddHessian(s.hess, 1)
	}
	f.Jacobian(s.e, tau)
	if s.structure == rowloss.StructureSeparable {
		s.addDiagonal(hessDiag)
		return nil
	}
	return s.addProducts(tau, s.current.r[i*D:(i+1)*D])
}

// parabolas returns the larger of the second derivatives of row i and those of the even parabolas that touch
// the loss.
func (s *innerNewton) parabolas(hessDiag []float64, i int) []float64 {
	D := s.f.D
	for k, r := range s.current.r[i*D : (i+1)*D] {
		s.column[k] = hessDiag[k]
		if r != 0 && r == r { // is not missing
			s.column[k] = math.Max(hessDiag[k], s.current.g[i*D+k]/r)
		}
	}
	return s.column
}

// addDiagonal adds (Qe)' diag(hessDiag) Qe to the Hessian.
func (s *innerNewton) addDiagonal(hessDiag []float64) {
	f := s.f
	d := f.Latent
	clear(s.je)
	for k := range f.M {
		slope := s.e[k*d : (k+1)*d]
		for r, v := range f.Axis(k) {
			for j, u := range slope {
				s.je[r*d+j] += v * u
			}
		}
	}
	for r, c := range hessDiag {
		row := s.je[r*d : (r+1)*d]
		for j, v := range row {
			for l, u := range row {
				s.hess[j*d+l] += c * v * u
			}
		}
	}
}

// addProducts adds (Qe)' (hess loss) Qe to the Hessian, column by column.
func (s *innerNewton) addProducts(tau, r []float64) error {
	f := s.f
	d := f.Latent
	for j := range d {
		clear(s.column)
		for k := range f.M {
			floats.AddScaled(s.column, s.e[k*d+j], f.Axis(k))
		}
		if err := s.second.HessianProduct(s.column, r, s.column, f.D); err != nil {
			return err
		}
		f.ToFrame(s.b, s.column)
		f.TauGradient(s.jr, s.w, tau, s.b)
		for l, v := range s.jr {
			s.hess[l*d+j] += v
		}
	}
	return nil
}

// round tries one step of every open row and closes rows that gain little or fail.
func (s *innerNewton) round(tau []float64, from int) error {
	d := s.f.Latent
	for k, i := range s.open {
		floats.AddScaledTo(s.tau[k*d:(k+1)*d], tau[i*d:(i+1)*d], s.length[i], s.step[i*d:(i+1)*d])
	}
	if err := s.evaluateAt(s.tau, from); err != nil {
		return err
	}
	left := s.open[:0]
	for k, i := range s.open {
		before, now := s.current.value[i], s.trial.value[k]
		if !nearest.Accepts(before, now, s.length[i], -s.promise[i], s.length[i]*minStepLength == s.minLength[i]) {
			again, err := s.shorten(tau[i*d:(i+1)*d], i, now)
			if err != nil {
				return err
			}
			if again {
				left = append(left, i)
			}
			continue
		}
		s.current.copyRow(i, &s.trial, k, s.f.D)
		copy(tau[i*d:(i+1)*d], s.tau[k*d:(k+1)*d])
		if before-now <= minDecrease*before {
			continue
		}
		left = append(left, i)
		if err := s.setStep(tau[i*d:(i+1)*d], i, false); err != nil {
			return err
		}
	}
	s.open = left
	return nil
}

// shorten replaces a step that ended at the loss now by a shorter one, and reports whether to try it.
func (s *innerNewton) shorten(tau []float64, i int, now float64) (bool, error) {
	D := s.f.D
	if s.structure == rowloss.StructureSeparable && !s.parabolic[i] {
		hessDiag := s.current.hessDiag[i*D : (i+1)*D]
		if !slices.Equal(hessDiag, s.parabolas(hessDiag, i)) {
			return true, s.setStep(tau, i, true)
		}
	}
	s.length[i] = nearest.Shorten(s.length[i], s.current.value[i], now, -s.promise[i])
	return s.length[i] > s.minLength[i], nil
}

// cost returns the weighted sum of the current losses of all rows.
func (s *innerNewton) cost(tau []float64, batch int) (cost float64, err error) {
	d := s.f.Latent
	for from := 0; from < s.data.N; from += batch {
		n := min(batch, s.data.N-from)
		s.openAll(n)
		if err := s.evaluateAt(tau[from*d:(from+n)*d], from); err != nil {
			return 0, fmt.Errorf("loss %s: %w", s.loss.Name(), err)
		}
		for i, v := range s.trial.value[:n] {
			if weight := s.data.Weight(from + i); weight > 0 {
				cost += weight * v
			}
		}
	}
	return cost, nil
}
