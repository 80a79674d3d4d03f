package arrowhead

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// maxRounds bounds the trials of a row after an outer step.
	maxRounds = 12
	// minDecrease is the relative decrease of its loss by a Newton step at
	// which a row is left: the next step gains the square of that.
	minDecrease = 1e-2
	// minStepLength is how much of a step is tried before it is given up.
	minStepLength = 1e-3
	// minCurvature is the curvature of a row, relative to the largest, below
	// which it is raised.
	minCurvature = 1e-3
)

// innerNewton takes Newton steps of the rows of a batch for any loss, of all rows at
// once: losses are fastest on many residuals. Every round evaluates the trials
// of the open rows; a trial that is no worse is taken, and the
// next step goes from there. Else, for a separable loss, the step follows the
// parabolas through the loss and its slope that are even: those of losses with
// rounded kinks lie above the loss, while second derivatives promise too much.
// Then steps are halved.
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
	open      []int     // rows whose steps still pay
	tau       []float64 // n x d: the rows to evaluate
	step      []float64 // n x d
	length    []float64 // n: of the step
	minLength []float64 // n: the length at which a step is given up
	promise   []float64 // n: the decrease per length of the step, at first
	parabolic []bool    // n: the step follows parabolas
	trial     rowLosses // of the rows to evaluate
	current   rowLosses // of all rows where they are
}

// rowLosses are losses and their derivatives at some residuals.
type rowLosses struct {
	value    []float64 // n
	r, g     []float64 // n x D: residuals and gradients
	hessDiag []float64 // n x D: the diagonals of the Hessians of a separable loss
	terms    []float64 // n x D: what its values are sums of
}

func newRowLosses(n, D int) rowLosses {
	vec := func(n int) []float64 { return make([]float64, n) }
	return rowLosses{value: vec(n), r: vec(n * D), g: vec(n * D), hessDiag: vec(n * D), terms: vec(n * D)}
}

// copyRow copies row i of other into row k.
func (l *rowLosses) copyRow(k int, other *rowLosses, i, D int) {
	l.value[k] = other.value[i]
	copy(l.r[k*D:(k+1)*D], other.r[i*D:(i+1)*D])
	copy(l.g[k*D:(k+1)*D], other.g[i*D:(i+1)*D])
	copy(l.hessDiag[k*D:(k+1)*D], other.hessDiag[i*D:(i+1)*D])
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

// run gives the rows from to to the better one of two places and takes Newton
// steps from there. It leaves their losses in current and returns the row
// evaluations done, a derivative counting as one.
func (s *innerNewton) run(a *Hessian, job *innerShard, from, to int) (float64, error) {
	n, d := to-from, s.f.Latent
	tau, other := job.tau[from*d:to*d], job.other[from*d:to*d]
	s.open = s.open[:0]
	for i := range n {
		s.open = append(s.open, i)
	}
	if err := s.evaluate(a, tau, from); err != nil {
		return 0, err
	}
	s.trial, s.current = s.current, s.trial
	if err := s.evaluate(a, other, from); err != nil {
		return 0, err
	}
	s.open = s.open[:0]
	for i := range n {
		if !(a.o.Data().Weight(from+i) > 0) {
			continue
		}
		s.open = append(s.open, i)
		if s.trial.value[i] < s.current.value[i] {
			s.current.copyRow(i, &s.trial, i, s.f.D)
			copy(tau[i*d:(i+1)*d], other[i*d:(i+1)*d])
		}
		if err := s.setStep(a, tau[i*d:(i+1)*d], i, false); err != nil {
			return 0, err
		}
	}
	done := 4 * n
	for round := 0; round < maxRounds && len(s.open) > 0; round++ {
		done += 2 * len(s.open)
		if err := s.round(a, tau, from); err != nil {
			return 0, err
		}
	}
	return float64(done), nil
}

// evaluate computes the losses of the open rows at the latent rows tau, which
// are packed: row k is that of open[k].
func (s *innerNewton) evaluate(a *Hessian, tau []float64, from int) error {
	f, t := s.f, &s.trial
	n, d, D := len(s.open), f.Latent, f.D
	if a.isSurface3D() {
		rowResiduals3D(f, t.r, *a.o.Data(), tau, s.open, from)
		return a.rowLosses(a.o.Loss(), t, n)
	}
	for k, i := range s.open {
		f.Coordinates(s.z, s.phi, tau[k*d:(k+1)*d])
		f.Residual(t.r[k*D:(k+1)*D], s.z, a.o.Data().Row(from+i))
	}
	return a.rowLosses(a.o.Loss(), t, n)
}

// rowLosses computes losses and derivatives at the first n residuals.
func (a *Hessian) rowLosses(loss framework.Loss, t *rowLosses, n int) error {
	D := a.F.D
	separable, ok := loss.(framework.Separable)
	if !ok || a.structure != framework.StructureSeparable {
		return loss.Evaluate(t.value[:n], t.g[:n*D], t.r[:n*D], D)
	}
	separable.Phi(t.terms[:n*D], t.g[:n*D], t.hessDiag[:n*D], t.r[:n*D])
	for i := range n {
		var sum float64
		for _, v := range t.terms[i*D : (i+1)*D] {
			sum += v
		}
		t.value[i] = sum
	}
	return nil
}

// setStep computes the step of row i from tau, where its losses are current.
func (s *innerNewton) setStep(a *Hessian, tau []float64, i int, careful bool) error {
	d := s.f.Latent
	if err := s.derivatives(a, tau, i, careful); err != nil {
		return err
	}
	if !careful && a.structure == framework.StructureSeparable && floats.Norm(s.hess, math.Inf(1)) == 0 { // a loss of straight lines
		return s.setStep(a, tau, i, true)
	}
	step := s.step[i*d : (i+1)*d]
	dense.NewtonStep(step, s.hess, s.grad, minCurvature)
	s.length[i], s.parabolic[i] = 1, careful
	// Losses are at least 0: a step that promises more than that is too long.
	s.promise[i] = -dense.Dot(s.grad, step)
	if limit := 2 * s.current.value[i]; s.promise[i] > limit {
		s.length[i] = limit / s.promise[i]
	}
	s.minLength[i] = minStepLength * s.length[i]
	return nil
}

// derivatives writes gradient and Hessian of row i with respect to tau.
func (s *innerNewton) derivatives(a *Hessian, tau []float64, i int, careful bool) error {
	f := s.f
	D := f.D
	g, hessDiag := s.current.g[i*D:(i+1)*D], s.current.hessDiag[i*D:(i+1)*D]
	if careful {
		hessDiag = s.parabolas(hessDiag, i)
	}
	if a.structure == framework.StructureSeparable && a.isSurface3D() {
		rowDerivatives3D(f, s.grad, s.hess, tau, g, hessDiag)
		return nil
	}
	f.ToFrame(s.b, g)
	f.TauGradient(s.grad, s.w, tau, s.b)
	clear(s.hess)
	f.AddCurvature(s.hess, s.w)
	f.Jacobian(s.e, tau)
	if a.structure == framework.StructureSeparable {
		s.addDiagonal(hessDiag)
		return nil
	}
	return s.addProducts(a.second, tau, s.current.r[i*D:(i+1)*D])
}

// parabolas returns the larger ones of the second derivatives of row i and of
// the even parabolas that touch the loss.
func (s *innerNewton) parabolas(hessDiag []float64, i int) []float64 {
	D := s.f.D
	for k, r := range s.current.r[i*D : (i+1)*D] {
		s.column[k] = hessDiag[k]
		if r != 0 {
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
func (s *innerNewton) addProducts(second framework.SecondOrder, tau, r []float64) error {
	f := s.f
	d := f.Latent
	for j := range d {
		clear(s.column)
		for k := range f.M {
			floats.AddScaled(s.column, s.e[k*d+j], f.Axis(k))
		}
		if err := second.HessianProduct(s.column, r, s.column, f.D); err != nil {
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

// round tries one step of every open row and closes those that gained little or
// whose steps lead nowhere.
func (s *innerNewton) round(a *Hessian, tau []float64, from int) error {
	d := s.f.Latent
	for k, i := range s.open {
		floats.AddScaledTo(s.tau[k*d:(k+1)*d], tau[i*d:(i+1)*d], s.length[i], s.step[i*d:(i+1)*d])
	}
	if err := s.evaluate(a, s.tau, from); err != nil {
		return err
	}
	left := s.open[:0]
	for k, i := range s.open {
		before, now := s.current.value[i], s.trial.value[k]
		if !nearest.Accepts(before, now, s.length[i], -s.promise[i], s.length[i]*minStepLength == s.minLength[i]) {
			again, err := s.shorten(a, tau[i*d:(i+1)*d], i, now)
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
		if err := s.setStep(a, tau[i*d:(i+1)*d], i, false); err != nil {
			return err
		}
	}
	s.open = left
	return nil
}

// shorten replaces a step that led to the loss now and reports whether to go on.
func (s *innerNewton) shorten(a *Hessian, tau []float64, i int, now float64) (bool, error) {
	D := s.f.D
	if a.structure == framework.StructureSeparable && !s.parabolic[i] {
		hessDiag := s.current.hessDiag[i*D : (i+1)*D]
		if !slices.Equal(hessDiag, s.parabolas(hessDiag, i)) {
			return true, s.setStep(a, tau, i, true)
		}
	}
	s.length[i] = nearest.Shorten(s.length[i], s.current.value[i], now, -s.promise[i])
	return s.length[i] > s.minLength[i], nil
}

// loss returns the weighted sum of losses of rows at their places.
func (s *innerNewton) loss(a *Hessian, tau []float64, batch int) (cost float64, err error) {
	d := s.f.Latent
	for from := 0; from < a.o.Data().N; from += batch {
		n := min(batch, a.o.Data().N-from)
		s.open = s.open[:0]
		for i := range n {
			s.open = append(s.open, i)
		}
		if err := s.evaluate(a, tau[from*d:(from+n)*d], from); err != nil {
			return 0, fmt.Errorf("loss %s: %w", a.o.Loss().Name(), err)
		}
		for i, v := range s.trial.value[:n] {
			if weight := a.o.Data().Weight(from + i); weight > 0 {
				cost += weight * v
			}
		}
	}
	return cost, nil
}
