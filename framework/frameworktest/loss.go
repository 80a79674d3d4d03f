package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	lossRows      = 16
	lossDim       = 5
	lossCallers   = 4
	lossTolerance = 1e-10
	// leastEntry keeps ordinary residuals away from the kinks at zero.
	leastEntry = 0.05
)

// lossMagnitudes are the sizes of ordinary rows in units of the scale.
var lossMagnitudes = []float64{1, 0.1, 10}

// LossOptions say on which residuals a loss is checked.
type LossOptions struct {
	// Dim is the number of entries of a row. Zero stands for the only one that
	// a [framework.Dimensioned] loss takes, or 5.
	Dim int
	// Rows is the number of ordinary residual rows. Zero stands for 16.
	Rows int
	// Seed makes the residuals reproducible.
	Seed uint64
	// Scale is the size of ordinary residuals, a third of which are ten times
	// smaller and a third ten times larger. Zero stands for 1.
	Scale float64
	// NonConvex leaves out the law that the loss is convex.
	NonConvex bool
	// Tolerance is the error, relative to the largest number of a batch, up to
	// which results count as the same where they should be equal to the last
	// bit. Zero insists on the last bit.
	Tolerance float64
}

// TestLoss fails t for every law that [CheckLoss] finds broken.
func TestLoss(t TB, l framework.Loss, o LossOptions) {
	t.Helper()
	CheckLoss(l, o).test(t)
}

// CheckLoss tries the laws of [framework.Loss], and of every optional interface
// that l implements, on random residual rows. It takes a few hundred
// evaluations of small batches. If one of the first three laws is broken, the
// others are not tried.
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
//   - row length: a [framework.Dimensioned] loss refuses others with an error.
//   - gradient slope: loss(r + tv) - loss(r) - t v'gradient has Taylor slope 2
//     away from kinks.
//   - convex: midpoints lie below chords and tangents below the loss, also the
//     tangent at 0.
//   - zero residual: at r = 0 everything the loss offers is finite.
//   - non-finite residuals: NaN or Inf give an error or a value that is not
//     finite, and leave the other rows alone.
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
	if s, ok := l.(framework.Rescaler); ok {
		c.try("rescaling", func() error { return c.rescaling(s) })
	}
	return c.Report
}

// lossCheck is a loss under test, with its results on ordinary rows.
type lossCheck struct {
	*Report
	loss               framework.Loss
	o                  LossOptions
	rng                *rand.Rand
	rows, values, grad []float64
}

func (c *lossCheck) name() error {
	name := c.loss.Name()
	if name == "" {
		return errors.New("the name is empty")
	}
	c.Subject = "loss " + name
	if d, ok := c.loss.(framework.Dimensioned); ok {
		if d.Dim() < 1 || c.o.Dim > 0 && c.o.Dim != d.Dim() {
			return fmt.Errorf("Dim is %d, rows of %d are to be checked", d.Dim(), c.o.Dim)
		}
		c.o.Dim = d.Dim()
	}
	if c.o.Dim < 1 {
		c.o.Dim = lossDim
	}
	if c.o.Rows < 1 {
		c.o.Rows = lossRows
	}
	if !(c.o.Scale > 0) {
		c.o.Scale = 1
	}
	c.rows = c.ordinary()
	return nil
}

func (c *lossCheck) finite() (err error) {
	c.values, c.grad, err = c.evaluate(c.loss, c.rows)
	if err != nil {
		return err
	}
	return allFinite(c.values, c.grad)
}

func (c *lossCheck) notNegative() error {
	if i := floats.MinIdx(c.values); c.values[i] < 0 {
		return fmt.Errorf("the value of row %d is %g", i, c.values[i])
	}
	return nil
}

// checkCalls tries what does not depend on the formula.
func (c *lossCheck) checkCalls() {
	c.try("residuals kept", c.residualsKept)
	c.try("deterministic", func() error { return c.sameAgain(c.loss) })
	c.try("parts", c.parts)
	c.try("in place", c.inPlace)
	c.try("batch equals single", c.batchEqualsSingle)
	c.try("empty batch", func() error {
		return c.loss.Evaluate([]float64{}, []float64{}, []float64{}, c.o.Dim)
	})
	c.try("concurrent", c.concurrent)
	if d, ok := c.loss.(framework.Dimensioned); ok {
		c.try("row length", func() error {
			dim := d.Dim() + 1
			if c.loss.Evaluate(make([]float64, 1), make([]float64, dim), make([]float64, dim), dim) == nil {
				return fmt.Errorf("no error for a row of %d entries", dim)
			}
			return nil
		})
	}
}

func (c *lossCheck) residualsKept() error {
	r := slices.Clone(c.rows)
	if err := c.loss.Evaluate(poisoned(c.o.Rows), poisoned(len(r)), r, c.o.Dim); err != nil {
		return err
	}
	if !sameBits(r, c.rows) {
		return errors.New("Evaluate changed them")
	}
	return nil
}

// sameAgain evaluates the ordinary rows once more.
func (c *lossCheck) sameAgain(l framework.Loss) error {
	values, grad, err := c.evaluate(l, c.rows)
	if err != nil {
		return err
	}
	return errors.Join(c.same("values", values, c.values), c.same("gradients", grad, c.grad))
}

func (c *lossCheck) parts() error {
	values, grad := poisoned(c.o.Rows), poisoned(len(c.rows))
	return errors.Join(
		c.loss.Evaluate(nil, nil, slices.Clone(c.rows), c.o.Dim),
		c.loss.Evaluate(values, nil, slices.Clone(c.rows), c.o.Dim),
		c.same("values without gradients", values, c.values),
		c.loss.Evaluate(nil, grad, slices.Clone(c.rows), c.o.Dim),
		c.same("gradients without values", grad, c.grad))
}

func (c *lossCheck) inPlace() error {
	values, r := poisoned(c.o.Rows), slices.Clone(c.rows)
	return errors.Join(
		c.loss.Evaluate(values, r, r, c.o.Dim),
		c.same("values", values, c.values),
		c.same("gradients", r, c.grad))
}

func (c *lossCheck) batchEqualsSingle() error {
	reversed := c.mapRows(c.rows, func(dst, _ []float64, i int) { copy(dst, c.row(c.rows, c.o.Rows-1-i)) })
	values, grad, err := c.evaluate(c.loss, reversed)
	if err != nil {
		return err
	}
	for i := range c.o.Rows {
		j := c.o.Rows - 1 - i
		value, gradient, err := c.evaluate(c.loss, c.row(c.rows, i))
		if err = errors.Join(err,
			c.same("values in reverse", values[j:j+1], c.values[i:i+1]),
			c.same("gradients in reverse", c.row(grad, j), c.row(c.grad, i)),
			c.same("value of a single row", value, c.values[i:i+1]),
			c.same("gradient of a single row", gradient, c.row(c.grad, i))); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

func (c *lossCheck) concurrent() error {
	errs := make([]error, lossCallers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			for range 3 {
				errs[i] = errors.Join(errs[i], c.sameAgain(c.loss))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// convex tries chords and tangents between pairs of rows, the first of which
// are zero.
func (c *lossCheck) convex() error {
	n, dim := 4*c.o.Rows, c.o.Dim
	points := make([]float64, 0, 3*n*dim)
	for range 8 {
		points = append(points, c.ordinary()...)
	}
	a, b := points[:n*dim], points[n*dim:2*n*dim]
	clear(a[:n/4*dim])
	for k := range a {
		points = append(points, a[k]/2+b[k]/2)
	}
	values, grad, err := c.evaluate(c.loss, points)
	if err != nil {
		return err
	}
	for i := range n {
		fa, fb, middle := values[i], values[n+i], values[2*n+i]
		slack := lossTolerance * (math.Abs(fa) + math.Abs(fb))
		if !(middle <= fa/2+fb/2+slack) {
			return fmt.Errorf("%g in the middle of %g and %g", middle, fa, fb)
		}
		tangent, size := fa, 0.0
		for k, g := range c.row(grad, i) {
			step := g * (b[i*dim+k] - a[i*dim+k])
			tangent, size = tangent+step, size+math.Abs(step)
		}
		if !(fb >= tangent-slack-lossTolerance*size) {
			return fmt.Errorf("%g lies below the tangent, %g, at a row of norm %g", fb, tangent, norm(c.row(a, i)))
		}
	}
	return nil
}

// checkExtremes tries residuals that are no ordinary numbers.
func (c *lossCheck) checkExtremes() {
	c.try("zero residual", c.zeroResidual)
	c.try("non-finite residuals", func() error {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			if err := c.nonFinite(bad); err != nil {
				return fmt.Errorf("%g: %w", bad, err)
			}
		}
		return nil
	})
	c.try("large residuals", func() error { return c.extreme(1e150) })
	c.try("tiny residuals", func() error { return c.extreme(1e-150) })
}

func (c *lossCheck) zeroResidual() error {
	zero := make([]float64, c.o.Dim)
	values, grad, err := c.evaluate(c.loss, zero)
	if err = errors.Join(err, allFinite(values, grad)); err != nil {
		return err
	}
	if values[0] < 0 {
		return fmt.Errorf("the value is %g", values[0])
	}
	if s, ok := c.loss.(framework.SecondOrder); ok {
		product := poisoned(c.o.Dim)
		err = errors.Join(s.HessianProduct(product, zero, c.ordinary()[:c.o.Dim], c.o.Dim), allFinite(product))
	}
	out := [][]float64{poisoned(1), poisoned(1), poisoned(1)}
	switch l := c.loss.(type) {
	case framework.Radial:
		l.Rho(out[0], out[1], out[2], zero[:1])
		err = errors.Join(err, allFinite(out...))
	case framework.Separable:
		l.Phi(out[0], out[1], out[2], zero[:1])
		err = errors.Join(err, allFinite(out...))
	}
	return err
}

// nonFinite spoils one entry of one row.
func (c *lossCheck) nonFinite(bad float64) error {
	i := c.o.Rows / 2
	r := slices.Clone(c.rows)
	c.row(r, i)[c.o.Dim-1] = bad
	values, grad, err := c.evaluate(c.loss, r)
	if err != nil {
		return nil // a typed refusal is as good
	}
	if isFinite(values[i]) {
		return fmt.Errorf("the value is %g", values[i])
	}
	values[i] = c.values[i]
	copy(c.row(grad, i), c.row(c.grad, i))
	if err := errors.Join(c.same("values", values, c.values), c.same("gradients", grad, c.grad)); err != nil {
		return fmt.Errorf("other rows change: %w", err)
	}
	return nil
}

func (c *lossCheck) extreme(size float64) error {
	r := slices.Clone(c.rows)
	floats.Scale(size/c.o.Scale, r)
	values, grad, err := c.evaluate(c.loss, r)
	if err != nil {
		return err
	}
	if size < 1 {
		return allFinite(values, grad)
	}
	for i, v := range values {
		if math.IsNaN(v) || isFinite(v) && floats.HasNaN(c.row(grad, i)) {
			return fmt.Errorf("row %d: value %g, gradient %.3g", i, v, c.row(grad, i))
		}
	}
	return nil
}

func (c *lossCheck) checkSecondOrder() {
	s, ok := c.loss.(framework.SecondOrder)
	if !ok {
		return
	}
	c.slopeLaw("Hessian slope", 3, func() (*expansion, error) { return c.expand(c.loss, c.rows, c.sideways(), 2) })
	c.try("Hessian symmetric", func() error { return c.hessianSymmetric(s) })
	c.try("Hessian in place", func() error {
		v := c.ordinary()
		want, err := c.hessian(s, c.rows, v)
		return errors.Join(err, s.HessianProduct(v, slices.Clone(c.rows), v, c.o.Dim), c.same("products", v, want))
	})
}

func (c *lossCheck) hessianSymmetric(s framework.SecondOrder) error {
	u, v := c.ordinary(), c.ordinary()
	hu, errU := c.hessian(s, c.rows, u)
	hv, errV := c.hessian(s, c.rows, v)
	if err := errors.Join(errU, errV); err != nil {
		return err
	}
	for i := range c.o.Rows {
		a, b := floats.Dot(c.row(u, i), c.row(hv, i)), floats.Dot(c.row(v, i), c.row(hu, i))
		size := norm(c.row(u, i))*norm(c.row(hv, i)) + norm(c.row(v, i))*norm(c.row(hu, i)) +
			norm(c.row(u, i))*norm(c.row(v, i))*norm(c.row(c.grad, i))/norm(c.row(c.rows, i))
		if !(math.Abs(a-b) <= lossTolerance*size) {
			return fmt.Errorf("row %d: u'Hv = %g, v'Hu = %g", i, a, b)
		}
	}
	return nil
}

func (c *lossCheck) checkRadial() {
	l, ok := c.loss.(framework.Radial)
	if !ok {
		return
	}
	u := make([]float64, c.o.Rows)
	for i := range u {
		u[i] = floats.Dot(c.row(c.rows, i), c.row(c.rows, i))
	}
	c.try("radial form", func() error { return c.radialForm(l, u) })
	c.slopeLaws("radial slopes", func() (*expansion, error) {
		return scalarExpansion(l.Rho, u)
	})
	c.try("rotation", c.rotation)
}

func (c *lossCheck) radialForm(l framework.Radial, u []float64) error {
	rho, d1 := poisoned(c.o.Rows), poisoned(c.o.Rows)
	l.Rho(rho, d1, nil, u)
	for i, v := range c.values {
		grad := slices.Clone(c.row(c.rows, i))
		floats.Scale(2*d1[i], grad)
		if err := errors.Join(agree("rho", rho[i:i+1], []float64{v}), agree("2 d1 r", grad, c.row(c.grad, i))); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// rotation reflects all rows at one random plane.
func (c *lossCheck) rotation() error {
	w := c.ordinary()[:c.o.Dim]
	floats.Scale(1/norm(w), w)
	reflect := func(dst, row []float64, _ int) {
		floats.AddScaledTo(dst, row, -2*floats.Dot(w, row), w)
	}
	values, grad, err := c.evaluate(c.loss, c.mapRows(c.rows, reflect))
	if err != nil {
		return err
	}
	want := c.mapRows(c.grad, reflect)
	for i := range values {
		if err := errors.Join(agree("value", values[i:i+1], c.values[i:i+1]),
			agree("gradient", c.row(grad, i), c.row(want, i))); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

func (c *lossCheck) checkSeparable() {
	l, ok := c.loss.(framework.Separable)
	if !ok {
		return
	}
	c.try("separable form", func() error { return c.separableForm(l) })
	c.slopeLaws("separable slopes", func() (*expansion, error) { return scalarExpansion(l.Phi, c.rows) })
}

func (c *lossCheck) separableForm(l framework.Separable) error {
	phi, d1, d2 := poisoned(len(c.rows)), poisoned(len(c.rows)), poisoned(len(c.rows))
	l.Phi(phi, d1, d2, slices.Clone(c.rows))
	sums := make([]float64, c.o.Rows)
	for i := range sums {
		sums[i] = floats.Sum(c.row(phi, i))
		if err := agree("sum of phi", sums[i:i+1], c.values[i:i+1]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	err := agree("d1", d1, c.grad)
	if s, ok := c.loss.(framework.SecondOrder); ok {
		ones := make([]float64, len(c.rows))
		floats.AddConst(1, ones)
		product, failure := c.hessian(s, c.rows, ones)
		err = errors.Join(err, failure, agree("d2", d2, product))
	}
	return err
}

func (c *lossCheck) matrixForm(q framework.Quadratic) error {
	m, dim := q.Matrix(), c.o.Dim
	if len(m) != dim*dim {
		return fmt.Errorf("%d entries, want %d x %d", len(m), dim, dim)
	}
	slack := lossTolerance * floats.Norm(m, math.Inf(1))
	for j := range dim {
		for k := range j {
			if !(math.Abs(m[j*dim+k]-m[k*dim+j]) <= slack) {
				return fmt.Errorf("entries (%d, %d) and (%d, %d) differ", j, k, k, j)
			}
		}
	}
	double := c.mapRows(c.rows, func(dst, row []float64, _ int) {
		for k := range dst {
			dst[k] = 2 * floats.Dot(m[k*dim:(k+1)*dim], row)
		}
	})
	for i, v := range c.values {
		form := floats.Dot(c.row(c.rows, i), c.row(double, i)) / 2
		if err := errors.Join(agree("r'Mr", []float64{form}, []float64{v}),
			agree("2Mr", c.row(double, i), c.row(c.grad, i))); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

func (c *lossCheck) checkMajorizer() {
	m, ok := c.loss.(framework.Majorizer)
	if !ok {
		return
	}
	c.try("weights", func() error {
		for _, r := range [][]float64{c.rows, make([]float64, len(c.rows))} {
			w, err := c.weights(m, r)
			if err = errors.Join(err, allFinite(w)); err != nil {
				return err
			}
			if i := floats.MinIdx(w); w[i] < 0 {
				return fmt.Errorf("weight %d is %g", i, w[i])
			}
		}
		return nil
	})
	c.try("majorizer", func() error { return c.majorizer(m) })
}

// majorizer compares the loss with its bound near and far from where they
// touch. The near points show weights that are off by little.
func (c *lossCheck) majorizer(m framework.Majorizer) error {
	w, err := c.weights(m, c.rows)
	if err != nil {
		return err
	}
	for _, spread := range []float64{0, 1e-4, 1e-3, 0.1, 1, 3} {
		r := slices.Clone(c.rows)
		for k := range r {
			r[k] *= 1 + spread*float64(2*c.rng.IntN(2)-1)
		}
		if spread == 0 {
			r = c.ordinary()
		}
		values, _, err := c.evaluate(c.loss, r)
		if err != nil {
			return err
		}
		stride := len(w) / c.o.Rows // 1 for a radial loss, else Dim
		for i, v := range values {
			bound, size := c.values[i], math.Abs(c.values[i])+math.Abs(v)
			for k, x := range c.row(r, i) {
				x0, weight := c.row(c.rows, i)[k], w[i*stride+k*(stride/c.o.Dim)]
				bound += weight / 2 * (x - x0) * (x + x0)
				size += weight / 2 * (x*x + x0*x0)
			}
			if !(v <= bound+lossTolerance*size) {
				return fmt.Errorf("row %d: %g above its bound %g", i, v, bound)
			}
		}
	}
	return nil
}

// rescaling compares the loss in other units with the loss itself.
func (c *lossCheck) rescaling(l framework.Rescaler) error {
	for _, unit := range []float64{8, 0.3} {
		other, factor := l.Rescale(unit)
		if other.Name() != c.loss.Name() {
			return fmt.Errorf("the loss in other units is named %q", other.Name())
		}
		values, grad, err := c.evaluate(other, c.rows)
		if err != nil {
			return err
		}
		scaled := slices.Clone(c.rows)
		floats.Scale(unit, scaled)
		wantValues, wantGrad, err := c.evaluate(c.loss, scaled)
		if err != nil {
			return err
		}
		floats.Scale(factor, values)
		floats.Scale(factor/unit, grad)
		if err := errors.Join(agree("the value in units", values, wantValues), agree("the gradient in units", grad, wantGrad)); err != nil {
			return fmt.Errorf("unit %g: %w", unit, err)
		}
	}
	return nil
}

func (c *lossCheck) checkSmoother() {
	s, ok := c.loss.(framework.Smoother)
	if !ok {
		return
	}
	c.try("smoothing", func() error { return c.smoothing(s) })
	eps := 0.3 * c.o.Scale
	rows, steps := c.ordinary(), c.ordinary() // of about the size of eps
	floats.Scale(eps/c.o.Scale, rows)
	floats.Scale(0.1*eps/c.o.Scale, steps)
	clear(rows[:c.o.Dim])
	c.slopeLaw("smoothed gradient slope", 2, func() (*expansion, error) {
		return c.expand(s.Smooth(eps), rows, steps, 1)
	})
	if _, ok := c.loss.(framework.SecondOrder); ok {
		c.slopeLaw("smoothed Hessian slope", 3, func() (*expansion, error) {
			return c.expand(s.Smooth(eps), rows, steps, 2)
		})
	}
}

func (c *lossCheck) smoothing(s framework.Smoother) error {
	if err := c.sameAgain(s.Smooth(0)); err != nil {
		return fmt.Errorf("Smooth(0): %w", err)
	}
	// The constant may grow with the slope of the loss, not with 1/eps.
	constant := 4 * (1 + floats.Norm(c.grad, math.Inf(1)))
	for eps := 0.1; eps > 5e-7; eps /= 10 {
		l := s.Smooth(eps * c.o.Scale)
		if l.Name() != c.loss.Name() || framework.StructureOf(l) != framework.StructureOf(c.loss) {
			return fmt.Errorf("Smooth(%g) is a %v loss of name %q", eps*c.o.Scale, framework.StructureOf(l), l.Name())
		}
		values, _, err := c.evaluate(l, c.rows)
		if err != nil {
			return err
		}
		for i, v := range values {
			if d := math.Abs(v - c.values[i]); !(d <= constant*eps*c.o.Scale*float64(c.o.Dim)) {
				return fmt.Errorf("Smooth(%g) is off by %g", eps*c.o.Scale, d)
			}
		}
	}
	return nil
}

// expansion is a Taylor expansion of many functions of one step at once.
type expansion struct {
	// at gives the functions at a step; results are kept in cache.
	at    func(t float64) ([]float64, error)
	cache map[float64][]float64
	// terms[k] holds the k-th derivatives at step 0. Size is that of the
	// numbers that are added up on the way to a value.
	terms [][]float64
	size  []float64
}

// expand expands a loss along v up to the given order.
func (c *lossCheck) expand(l framework.Loss, r, v []float64, order int) (*expansion, error) {
	values, grad, err := c.evaluate(l, r)
	if err != nil {
		return nil, err
	}
	x := &expansion{terms: [][]float64{values, make([]float64, c.o.Rows)}, size: make([]float64, c.o.Rows)}
	for i := range c.o.Rows {
		x.terms[1][i] = floats.Dot(c.row(grad, i), c.row(v, i))
		for k, g := range c.row(grad, i) {
			x.size[i] += math.Abs(g) * (math.Abs(c.row(r, i)[k]) + math.Abs(c.row(v, i)[k]))
		}
	}
	if order > 1 {
		s, ok := l.(framework.SecondOrder)
		if !ok {
			return nil, errors.New("there is no HessianProduct")
		}
		product, err := c.hessian(s, r, v)
		if err != nil {
			return nil, err
		}
		second := make([]float64, c.o.Rows)
		for i := range second {
			second[i] = floats.Dot(c.row(v, i), c.row(product, i))
		}
		x.terms = append(x.terms, second)
	}
	x.at = func(t float64) ([]float64, error) {
		values := poisoned(c.o.Rows)
		moved := floats.AddScaledTo(make([]float64, len(r)), r, t, v)
		err := l.Evaluate(values, nil, moved, c.o.Dim)
		return values, err
	}
	return x, nil
}

// scalarExpansion expands a function of one number, given with its first two
// derivatives, at all entries of x, which stay away from zero.
func scalarExpansion(f func(value, d1, d2, x []float64), x []float64) (*expansion, error) {
	value, d1, d2 := poisoned(len(x)), poisoned(len(x)), poisoned(len(x))
	f(value, d1, d2, slices.Clone(x))
	size := make([]float64, len(x))
	for i, v := range x {
		d1[i] *= v
		d2[i] *= v * v
		size[i] = 2 * math.Abs(d1[i])
	}
	at := func(t float64) ([]float64, error) {
		moved, values := slices.Clone(x), poisoned(len(x))
		floats.Scale(1+t, moved)
		f(values, nil, nil, moved)
		return values, nil
	}
	return &expansion{at: at, terms: [][]float64{value, d1, d2}, size: size}, nil
}

// slopes measures the slopes of the remainders after the given number of terms,
// over steps up to the given length.
func (x *expansion) slopes(terms int, length float64) ([]Slope, error) {
	if x.cache == nil {
		x.cache = make(map[float64][]float64)
	}
	slopes := make([]Slope, len(x.size))
	for i := range slopes {
		var err error
		slopes[i], err = TaylorSlope(func(t float64) (e, magnitude float64, err error) {
			t *= length
			if x.cache[t] == nil {
				if x.cache[t], err = x.at(t); err != nil {
					return 0, 0, err
				}
			}
			value, factor := x.cache[t][i], 1.0
			e, magnitude = value, math.Abs(value)+x.size[i]
			for k, term := range x.terms[:terms] {
				e -= factor * term[i]
				magnitude += math.Abs(factor * term[i])
				factor *= t / float64(k+1)
			}
			return math.Abs(e), magnitude, nil
		})
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
	}
	return slopes, nil
}

// smallest returns the smallest slope of the remainders after some terms. Where
// a step crosses a kink the slope means nothing: less than half of the
// functions may be measured again over shorter steps.
func (x *expansion) smallest(terms int) (Slope, error) {
	slopes, err := x.slopes(terms, 1)
	if err != nil {
		return Slope{}, err
	}
	low := func(s Slope) bool { return !s.AtLeast(float64(terms)) }
	crossing := 0
	for _, s := range slopes {
		if low(s) {
			crossing++
		}
	}
	for length := 1. / 32; 2*crossing < len(slopes) && slices.ContainsFunc(slopes, low) && length > 1e-4; length /= 32 {
		again, err := x.slopes(terms, length)
		if err != nil {
			return Slope{}, err
		}
		for i, s := range slopes {
			if low(s) {
				slopes[i] = again[i]
			}
		}
	}
	smallest := Slope{Exact: true}
	for _, s := range slopes {
		if !s.Exact && (smallest.Exact || s.Slope < smallest.Slope) {
			smallest = s
		}
	}
	return smallest, nil
}

// slopeLaw records the smallest slope of the remainders after as many terms as
// it should be.
func (c *lossCheck) slopeLaw(law string, want int, build func() (*expansion, error)) {
	var slope Slope
	c.try(law, func() error {
		x, err := build()
		if err != nil {
			return err
		}
		if slope, err = x.smallest(want); err == nil && !slope.AtLeast(float64(want)) {
			err = fmt.Errorf("slope %v, want %d", slope, want)
		}
		return err
	})
	if v := &c.Verdicts[len(c.Verdicts)-1]; v.OK {
		v.Detail = fmt.Sprintf("slope %v", slope)
	}
}

// slopeLaws is slopeLaw for the first and second derivative together.
func (c *lossCheck) slopeLaws(law string, build func() (*expansion, error)) {
	c.try(law, func() error {
		x, err := build()
		if err != nil {
			return err
		}
		for terms := 2; terms <= 3; terms++ {
			slope, err := x.smallest(terms)
			if err != nil {
				return err
			}
			if !slope.AtLeast(float64(terms)) {
				return fmt.Errorf("d%d: slope %v, want %d", terms-1, slope, terms)
			}
		}
		return nil
	})
}

// evaluate returns values and gradients of the rows of r, which it protects. An
// entry that was not written is an error.
func (c *lossCheck) evaluate(l framework.Loss, r []float64) (values, grad []float64, err error) {
	values, grad = poisoned(len(r)/c.o.Dim), poisoned(len(r))
	if err := l.Evaluate(values, grad, slices.Clone(r), c.o.Dim); err != nil {
		return nil, nil, err
	}
	return values, grad, errors.Join(written("value", values), written("gradient entry", grad))
}

// hessian returns the products of the Hessians at the rows of r with those of v.
func (c *lossCheck) hessian(s framework.SecondOrder, r, v []float64) ([]float64, error) {
	product := poisoned(len(r))
	err := s.HessianProduct(product, slices.Clone(r), slices.Clone(v), c.o.Dim)
	return product, errors.Join(err, written("entry of the product", product))
}

// weights returns one weight per row of a radial loss, else one per entry.
func (c *lossCheck) weights(m framework.Majorizer, r []float64) ([]float64, error) {
	w := poisoned(len(r))
	if _, ok := c.loss.(framework.Radial); ok {
		w = w[:len(r)/c.o.Dim]
	}
	err := m.Weights(w, slices.Clone(r), c.o.Dim)
	return w, errors.Join(err, written("weight", w))
}

// ordinary draws rows of several sizes with entries away from zero.
func (c *lossCheck) ordinary() []float64 {
	r := make([]float64, c.o.Rows*c.o.Dim)
	for k := range r {
		x := 0.0
		for math.Abs(x) < leastEntry {
			x = c.rng.NormFloat64()
		}
		r[k] = x * c.o.Scale * lossMagnitudes[k/c.o.Dim%len(lossMagnitudes)]
	}
	return r
}

// sideways draws steps from the ordinary rows that do not change the sign of
// any entry, so that kinks at zero are not crossed.
func (c *lossCheck) sideways() []float64 {
	v := slices.Clone(c.rows)
	for k := range v {
		v[k] *= (0.3 + 0.7*c.rng.Float64()) * float64(2*c.rng.IntN(2)-1)
	}
	return v
}

func (c *lossCheck) row(r []float64, i int) []float64 { return r[i*c.o.Dim : (i+1)*c.o.Dim] }

// mapRows writes the image of every row of r.
func (c *lossCheck) mapRows(r []float64, f func(dst, row []float64, i int)) []float64 {
	out := make([]float64, len(r))
	for i := range len(r) / c.o.Dim {
		f(c.row(out, i), c.row(r, i), i)
	}
	return out
}

// same compares results that should be equal to the last bit, or to the
// tolerance asked for.
func (c *lossCheck) same(what string, got, want []float64) error {
	if sameBits(got, want) {
		return nil
	}
	if d := largestDifference(got, want); !(d <= c.o.Tolerance*floats.Norm(want, math.Inf(1))) {
		return fmt.Errorf("%s differ by %g", what, d)
	}
	return nil
}

// agree compares two formulas for the same numbers.
func agree(what string, got, want []float64) error {
	if d := largestDifference(got, want); !(d <= lossTolerance*floats.Norm(want, math.Inf(1))) {
		return fmt.Errorf("%s is off by %g", what, d)
	}
	return nil
}

// largestDifference is NaN where any number is.
func largestDifference(a, b []float64) float64 {
	d := 0.0
	for i, v := range a {
		d = max(d, math.Abs(v-b[i]))
	}
	return d
}

// poison is a NaN that no computation gives.
var poison = math.Float64frombits(0x7ff8_dead_beef_0001)

// poisoned returns a destination that shows what was not written.
func poisoned(n int) []float64 {
	dst := make([]float64, n)
	fill(dst, poison)
	return dst
}

func written(what string, dst []float64) error {
	for i, v := range dst {
		if math.Float64bits(v) == math.Float64bits(poison) {
			return fmt.Errorf("%s %d was not written", what, i)
		}
	}
	return nil
}

func allFinite(results ...[]float64) error {
	for _, dst := range results {
		if i := slices.IndexFunc(dst, func(v float64) bool { return !isFinite(v) }); i >= 0 {
			return errors.Join(written("entry", dst), fmt.Errorf("entry %d is %g", i, dst[i]))
		}
	}
	return nil
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
