package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
)

const (
	// lawTolerance is the error, relative to 1 plus the size of the numbers
	// compared, up to which two results count as equal.
	lawTolerance = 1e-10
	// randomPoints is the number of points drawn where the manifold can draw.
	randomPoints = 3
	// maxRank bounds the number of projections with which the dimension of the
	// tangent space or of its complement is counted.
	maxRank = 200
	// concurrentCalls is the number of goroutines that share the manifold.
	concurrentCalls = 8
)

// TestManifold fails t for every law that [CheckManifold] finds broken.
func TestManifold(t TB, name string, m framework.Manifold, seed uint64, points ...[]float64) {
	t.Helper()
	CheckManifold(name, m, seed, points...).test(t)
}

// CheckManifold tries the laws of [framework.Manifold], and of every optional
// interface that m implements, on random vectors. It does so at the points
// given and, where m is a [framework.Rander], at random points; other manifolds
// need at least one point. Laws that presuppose broken ones are not tried.
//
// The laws:
//
//   - sizes: 0 <= Dim <= Size.
//   - points: the points are finite and satisfy the constraint; Rand depends on
//     its generator only.
//   - projection idempotent, linear, self-adjoint: Project is the orthogonal
//     projection on a subspace. With a [framework.Metric] it may be oblique.
//   - dimension: that subspace has dimension Dim; counted where Dim or Size - Dim
//     is at most 200.
//   - retraction at zero: Retract(x, 0) = x.
//   - retraction slope: Retract(x, tv) - x - tv has Taylor slope 2.
//   - retraction on manifold: results are finite and satisfy the constraint, or
//     the step is long and the result an error.
//   - second order: for retractions that claim it, the tangential part of
//     Retract(x, tv) - x - tv has slope 3.
//   - retraction of non-finite steps: steps with NaN or Inf give an error.
//   - exponential: Exp(x, tv) - Retract(x, tv) has slope 2, or the claimed
//     order plus 1.
//   - exponential on manifold, exponential of non-finite steps: as for Retract.
//   - geodesic: along Exp the acceleration is normal to the manifold; with a
//     Metric, the speed is constant.
//   - inverse retraction: InverseRetract(x, Retract(x, v)) = v for small v.
//   - transport tangent, linear, at rest: Transport gives tangent vectors at y,
//     is linear, and is the identity for y = x.
//   - metric: Inner is symmetric, bilinear and positive.
//   - gradient: Gradient(x, g) is tangent and Inner(Gradient(x, g), v) = g'v.
//   - hessian symmetric: RiemannianHessian is tangent and symmetric.
//   - hessian: it is the derivative of the gradient; with a Metric, the second
//     derivative of the cost along Exp.
//   - restore: Restore brings a point nearby back without moving it far,
//     leaves points of the manifold alone and fails for NaN.
//   - inputs kept, destination overwritten, aliasing: the conventions of package
//     framework, for every method.
//   - deterministic, concurrent: reruns give the same bits, also when several
//     goroutines use m at once. Run it under the race detector too.
func CheckManifold(name string, m framework.Manifold, seed uint64, points ...[]float64) *Report {
	c := &manifoldCheck{
		Report: &Report{Subject: name},
		m:      m,
		rng:    rand.New(rand.NewPCG(seed, 0)),
		points: points,
	}
	// Each stage rests on the ones before.
	for _, stage := range []func(){c.checkSizes, c.checkPoints, c.checkProjection, c.checkRest} {
		if stage(); !c.OK() {
			break
		}
	}
	return c.Report
}

// manifoldCheck is a manifold under test.
type manifoldCheck struct {
	*Report
	m      framework.Manifold
	rng    *rand.Rand
	points [][]float64
}

// law tries a law at every point and reports whether it holds.
func (c *manifoldCheck) law(name string, trial func(x []float64) error) bool {
	c.try(name, func() error {
		for i, x := range c.points {
			if err := trial(slices.Clone(x)); err != nil {
				return fmt.Errorf("point %d: %w", i, err)
			}
		}
		return nil
	})
	return c.Verdicts[len(c.Verdicts)-1].OK
}

// slopeLaw tries at every point, along a random tangent vector v, whether a
// remainder is of the order wanted.
func (c *manifoldCheck) slopeLaw(name string, want float64, remainder func(x, v []float64, t float64) (e, magnitude float64, err error)) {
	worst := Slope{Exact: true}
	holds := c.law(name, func(x []float64) error {
		v, err := c.step(x)
		if err != nil {
			return err
		}
		floats.Scale(0.25, v) // long steps would hide the order of the remainder
		slope, err := TaylorSlope(func(t float64) (float64, float64, error) { return remainder(x, v, t) })
		if err != nil {
			return err
		}
		if !slope.AtLeast(want) {
			return fmt.Errorf("slope %v, want %g", slope, want)
		}
		if worst.Exact || !slope.Exact && slope.Slope < worst.Slope {
			worst = slope
		}
		return nil
	})
	if holds {
		c.Verdicts[len(c.Verdicts)-1].Detail = fmt.Sprintf("slope %v", worst)
	}
}

func (c *manifoldCheck) checkSizes() {
	c.try("sizes", func() error {
		if size, dim := c.m.Size(), c.m.Dim(); dim < 0 || dim > size {
			return fmt.Errorf("Dim is %d, Size %d", dim, size)
		}
		return nil
	})
}

func (c *manifoldCheck) checkPoints() {
	c.try("points", func() error {
		if err := c.drawPoints(); err != nil {
			return err
		}
		if len(c.points) == 0 {
			return errors.New("there are none: give one, or implement Rander")
		}
		for i, x := range c.points {
			if len(x) != c.m.Size() {
				return fmt.Errorf("point %d has length %d, want %d", i, len(x), c.m.Size())
			}
			if err := c.onManifold(x); err != nil {
				return fmt.Errorf("point %d: %w", i, err)
			}
		}
		return nil
	})
}

// drawPoints adds random points.
func (c *manifoldCheck) drawPoints() error {
	r, ok := c.m.(framework.Rander)
	if !ok {
		return nil
	}
	c.points = slices.Clone(c.points)
	for range randomPoints {
		s1, s2 := c.rng.Uint64(), c.rng.Uint64()
		x, again := c.poisoned(), c.zeros()
		r.Rand(x, rand.New(rand.NewPCG(s1, s2)))
		r.Rand(again, rand.New(rand.NewPCG(s1, s2)))
		if !sameBits(x, again) {
			return errors.New("equal generators give different random points")
		}
		c.points = append(c.points, x)
	}
	return nil
}

func (c *manifoldCheck) checkProjection() {
	c.law("projection idempotent", func(x []float64) error {
		p := c.project(x, c.gauss())
		return equal(c.project(x, p), p)
	})
	c.law("projection linear", func(x []float64) error {
		return c.linear(func(v []float64) []float64 { return c.project(x, v) }, c.gauss(), c.gauss())
	})
	if !c.hasMetric() {
		c.law("projection self-adjoint", func(x []float64) error {
			u, v := c.gauss(), c.gauss()
			return equalNumbers(floats.Dot(c.project(x, u), v), floats.Dot(u, c.project(x, v)), norm(u)*norm(v))
		})
	}
	if c.OK() {
		c.law("dimension", c.dimension)
	}
}

// dimension counts how many of k random vectors have independent projections
// on the tangent space, or on its complement if that is smaller. For k greater
// than the dimension claimed, the rank equals it only if it is right.
func (c *manifoldCheck) dimension(x []float64) error {
	dim, codim := c.m.Dim(), c.m.Size()-c.m.Dim()
	want := min(dim, codim)
	if want > maxRank || c.m.Size() == 0 {
		return nil
	}
	images := make([][]float64, want+2)
	for i := range images {
		z := c.gauss()
		images[i] = c.project(x, z)
		if codim < dim {
			floats.SubTo(images[i], z, images[i])
		}
	}
	got, err := rank(images)
	if err != nil {
		return err
	}
	if got != want {
		if codim < dim {
			return fmt.Errorf("Dim is %d, but the complement of the tangent space has dimension %d or more, not %d", dim, got, want)
		}
		return fmt.Errorf("Dim is %d, but the tangent space has dimension %d or more", dim, got)
	}
	return nil
}

func (c *manifoldCheck) checkRest() {
	c.checkRetraction()
	c.checkExp()
	c.checkInverse()
	c.checkTransport()
	c.checkMetric()
	c.checkHessian()
	c.checkRestore()
	c.checkConventions()
}

func (c *manifoldCheck) checkRetraction() {
	c.law("retraction at zero", func(x []float64) error {
		y, err := c.retract(x, c.zeros())
		if err != nil {
			return err
		}
		return equal(y, x)
	})
	c.slopeLaw("retraction slope", 2, func(x, v []float64, t float64) (float64, float64, error) {
		d, err := c.firstOrderRemainder(x, v, t)
		return norm(d), norm(x), err
	})
	if c.order() >= 2 && !c.hasMetric() {
		c.slopeLaw("second order", 3, func(x, v []float64, t float64) (float64, float64, error) {
			d, err := c.firstOrderRemainder(x, v, t)
			return norm(c.project(x, d)), norm(x), err
		})
	}
	c.checkSteps("retraction", c.m.Retract)
}

// checkSteps tries how a retraction takes steps of all lengths, and steps that
// are not finite.
func (c *manifoldCheck) checkSteps(name string, retract func(dst, x, v []float64) error) {
	c.law(name+" on manifold", func(x []float64) error {
		v, err := c.step(x)
		if err != nil {
			return err
		}
		for _, t := range []float64{0x1p-10, 1, 0x1p10, 0x1p30, 1e100, 1e200, 1e308} {
			y := c.zeros()
			err := retract(y, x, times(t, v))
			if err != nil && t > 1 {
				continue
			}
			if err := errors.Join(err, c.onManifold(y)); err != nil {
				return fmt.Errorf("step of length %.2g: %w", t*norm(v), err)
			}
		}
		return nil
	})
	c.law(name+" of non-finite steps", func(x []float64) error {
		if len(x) == 0 {
			return nil
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			v := c.tangent(x)
			v[c.rng.IntN(len(v))] = bad
			if retract(c.zeros(), x, v) == nil {
				return fmt.Errorf("no error for a step with an entry %g", bad)
			}
		}
		return nil
	})
}

// firstOrderRemainder returns Retract(x, tv) - x - tv.
func (c *manifoldCheck) firstOrderRemainder(x, v []float64, t float64) ([]float64, error) {
	y, err := c.retract(x, times(t, v))
	floats.Sub(y, x)
	floats.AddScaled(y, -t, v)
	return y, err
}

func (c *manifoldCheck) checkExp() {
	e, ok := c.m.(framework.Exper)
	if !ok {
		return
	}
	c.slopeLaw("exponential", float64(c.order()+1), func(x, v []float64, t float64) (float64, float64, error) {
		y, err := c.retract(x, times(t, v))
		z := c.zeros()
		err = errors.Join(err, e.Exp(z, x, times(t, v)))
		return floats.Distance(y, z, 2), norm(x), err
	})
	if c.hasMetric() {
		c.law("geodesic", func(x []float64) error { return c.constantSpeed(e, x) })
	} else {
		c.slopeLaw("geodesic", 3, func(x, v []float64, t float64) (float64, float64, error) {
			return c.tangentialAcceleration(e, x, v, t/2)
		})
	}
	c.checkSteps("exponential", e.Exp)
}

// tangentialAcceleration is the tangential part of the second difference over h
// at the middle of the geodesic from x along v. For geodesics it is O(h^4), for
// other curves O(h^2).
func (c *manifoldCheck) tangentialAcceleration(e framework.Exper, x, v []float64, h float64) (size, magnitude float64, err error) {
	before, middle, after := c.zeros(), c.zeros(), c.zeros()
	err = errors.Join(
		e.Exp(before, x, times(0.5-h, v)),
		e.Exp(middle, x, times(0.5, v)),
		e.Exp(after, x, times(0.5+h, v)))
	floats.Add(before, after)
	floats.AddScaled(before, -2, middle)
	return norm(c.project(middle, before)), 4 * norm(x), err
}

// constantSpeed compares the speed in the middle of a geodesic, by central
// differences, with that at the start.
func (c *manifoldCheck) constantSpeed(e framework.Exper, x []float64) error {
	const h = 0x1p-17
	v, err := c.step(x)
	if err != nil {
		return err
	}
	before, middle, after := c.zeros(), c.zeros(), c.zeros()
	err = errors.Join(
		e.Exp(before, x, times(0.5-h, v)),
		e.Exp(middle, x, times(0.5, v)),
		e.Exp(after, x, times(0.5+h, v)))
	if err != nil {
		return err
	}
	floats.Sub(after, before)
	floats.Scale(1/(2*h), after)
	start, later := c.inner(x, v, v), c.inner(middle, after, after)
	if !(math.Abs(later-start) <= 1e-6*start) {
		return fmt.Errorf("the squared speed is %g at the start, %g in the middle", start, later)
	}
	return nil
}

func (c *manifoldCheck) checkInverse() {
	inv, ok := c.m.(framework.InverseRetracter)
	if !ok {
		return
	}
	c.law("inverse retraction", func(x []float64) error {
		v, err := c.step(x)
		if err != nil {
			return err
		}
		floats.Scale(0.25, v)
		y, err := c.retract(x, v)
		if err != nil {
			return err
		}
		w := c.zeros()
		if err := inv.InverseRetract(w, x, y); err != nil {
			return err
		}
		return equal(w, v)
	})
}

func (c *manifoldCheck) checkTransport() {
	tr, ok := c.m.(framework.Transporter)
	if !ok {
		return
	}
	transport := func(x, y, v []float64) []float64 {
		dst := c.zeros()
		tr.Transport(dst, x, y, v)
		return dst
	}
	c.law("transport tangent", func(x []float64) error {
		v, y, err := c.stepAndEnd(x)
		if err != nil {
			return err
		}
		w := transport(x, y, v)
		return equal(c.project(y, w), w)
	})
	c.law("transport linear", func(x []float64) error {
		v, y, err := c.stepAndEnd(x)
		if err != nil {
			return err
		}
		return c.linear(func(v []float64) []float64 { return transport(x, y, v) }, v, c.tangent(x))
	})
	c.law("transport at rest", func(x []float64) error {
		v := c.tangent(x)
		return equal(transport(x, x, v), v)
	})
}

func (c *manifoldCheck) checkMetric() {
	m, ok := c.m.(framework.Metric)
	if !ok {
		return
	}
	c.law("metric", func(x []float64) error {
		u, v, w := c.tangent(x), c.tangent(x), c.tangent(x)
		uu, vv, ww := m.Inner(x, u, u), m.Inner(x, v, v), m.Inner(x, w, w)
		if c.m.Dim() > 0 && !(uu > 0 && vv > 0 && ww > 0) {
			return fmt.Errorf("squared lengths are %g, %g, %g", uu, vv, ww)
		}
		sum := times(2, v)
		floats.Add(sum, w)
		// Cauchy and Schwarz bound every product.
		scale := math.Sqrt(uu) * (2*math.Sqrt(vv) + math.Sqrt(ww))
		return errors.Join(
			equalNumbers(m.Inner(x, u, v), m.Inner(x, v, u), scale),
			equalNumbers(m.Inner(x, u, sum), 2*m.Inner(x, u, v)+m.Inner(x, u, w), scale))
	})
	c.law("gradient", func(x []float64) error {
		g, v := c.gauss(), c.tangent(x)
		grad := c.gradient(x, g)
		return errors.Join(
			equal(c.project(x, grad), grad),
			equalNumbers(m.Inner(x, grad, v), floats.Dot(g, v), norm(g)*norm(v)))
	})
}

func (c *manifoldCheck) checkHessian() {
	h, ok := c.m.(framework.HessianConverter)
	if !ok {
		return
	}
	f := quadratic{d: c.gauss(), w: c.gauss(), b: c.gauss()}
	hessian := func(x, v []float64) []float64 {
		dst := c.zeros()
		h.RiemannianHessian(dst, x, f.gradient(x), f.hessian(v), v)
		return dst
	}
	c.law("hessian symmetric", func(x []float64) error {
		u, v := c.tangent(x), c.tangent(x)
		hu, hv := hessian(x, u), hessian(x, v)
		return errors.Join(
			equal(c.project(x, hv), hv),
			equalNumbers(c.inner(x, u, hv), c.inner(x, hu, v), math.Sqrt(c.inner(x, hu, hu)*c.inner(x, v, v))))
	})
	// Differences between t and -t have errors of two orders more than needed.
	if !c.hasMetric() {
		c.slopeLaw("hessian", 2, func(x, v []float64, t float64) (float64, float64, error) {
			y, err := c.retract(x, times(t, v))
			z, err2 := c.retract(x, times(-t, v))
			d, g := c.gradient(y, f.gradient(y)), c.gradient(z, f.gradient(z))
			magnitude := norm(f.gradient(y)) + norm(f.gradient(z))
			floats.Sub(d, g)
			d = c.project(x, d)
			floats.AddScaled(d, -2*t, hessian(x, v))
			return norm(d), magnitude, errors.Join(err, err2)
		})
		return
	}
	if e, ok := c.m.(framework.Exper); ok {
		c.slopeLaw("hessian", 3, func(x, v []float64, t float64) (float64, float64, error) {
			y, z := c.zeros(), c.zeros()
			err := errors.Join(e.Exp(y, x, times(t, v)), e.Exp(z, x, times(-t, v)))
			d := f.value(y) - 2*f.value(x) + f.value(z) - t*t*c.inner(x, hessian(x, v), v)
			return math.Abs(d), f.magnitude(x), err
		})
	}
}

func (c *manifoldCheck) checkRestore() {
	r, ok := c.m.(framework.Constrained)
	if !ok {
		return
	}
	c.law("restore", func(x []float64) error {
		noise := times(1e-3/math.Sqrt(float64(len(x)+1)), c.gauss())
		y := slices.Clone(x)
		floats.Add(y, noise)
		if err := errors.Join(r.Restore(y), c.onManifold(y)); err != nil {
			return err
		}
		if moved := floats.Distance(x, y, 2); moved > 10*norm(noise) {
			return fmt.Errorf("a point %g from the manifold came back %g away", norm(noise), moved)
		}
		same := slices.Clone(x)
		if err := errors.Join(r.Restore(same), equal(same, x)); err != nil {
			return fmt.Errorf("at a point of the manifold: %w", err)
		}
		if len(x) > 0 {
			same[0] = math.NaN()
			if r.Restore(same) == nil {
				return errors.New("takes NaN without an error")
			}
		}
		return nil
	})
}

// kernel is a method with a destination; all inputs have its shape.
type kernel struct {
	name string
	in   [][]float64
	run  func(dst []float64, in [][]float64) error
}

// kernels lists the methods of the manifold with inputs for a trial at x.
func (c *manifoldCheck) kernels(x []float64) ([]kernel, error) {
	v, y, err := c.stepAndEnd(x)
	if err != nil {
		return nil, err
	}
	g, h := c.gauss(), c.gauss()
	kernels := []kernel{
		{"Project", [][]float64{x, g}, func(dst []float64, in [][]float64) error {
			c.m.Project(dst, in[0], in[1])
			return nil
		}},
		{"Retract", [][]float64{x, v}, func(dst []float64, in [][]float64) error {
			return c.m.Retract(dst, in[0], in[1])
		}},
	}
	if m, ok := c.m.(framework.Transporter); ok {
		kernels = append(kernels, kernel{"Transport", [][]float64{x, y, v}, func(dst []float64, in [][]float64) error {
			m.Transport(dst, in[0], in[1], in[2])
			return nil
		}})
	}
	if m, ok := c.m.(framework.Exper); ok {
		kernels = append(kernels, kernel{"Exp", [][]float64{x, v}, func(dst []float64, in [][]float64) error {
			return m.Exp(dst, in[0], in[1])
		}})
	}
	if m, ok := c.m.(framework.InverseRetracter); ok {
		kernels = append(kernels, kernel{"InverseRetract", [][]float64{x, y}, func(dst []float64, in [][]float64) error {
			return m.InverseRetract(dst, in[0], in[1])
		}})
	}
	if m, ok := c.m.(framework.Metric); ok {
		kernels = append(kernels, kernel{"Gradient", [][]float64{x, g}, func(dst []float64, in [][]float64) error {
			m.Gradient(dst, in[0], in[1])
			return nil
		}}, kernel{"Inner", [][]float64{x, v, v}, func(dst []float64, in [][]float64) error {
			fill(dst, m.Inner(in[0], in[1], in[2]))
			return nil
		}})
	}
	if m, ok := c.m.(framework.HessianConverter); ok {
		kernels = append(kernels, kernel{"RiemannianHessian", [][]float64{x, g, h, v}, func(dst []float64, in [][]float64) error {
			m.RiemannianHessian(dst, in[0], in[1], in[2], in[3])
			return nil
		}})
	}
	if m, ok := c.m.(framework.Constrained); ok {
		kernels = append(kernels, kernel{"Violation", [][]float64{x}, func(dst []float64, in [][]float64) error {
			fill(dst, m.Violation(in[0]))
			return nil
		}})
	}
	return kernels, nil
}

// copies returns copies of the inputs.
func (k kernel) copies() [][]float64 {
	in := make([][]float64, len(k.in))
	for i := range in {
		in[i] = slices.Clone(k.in[i])
	}
	return in
}

// into runs the kernel on copies of its inputs, which it returns.
func (k kernel) into(dst []float64) (in [][]float64, err error) {
	in = k.copies()
	if err := k.run(dst, in); err != nil {
		return nil, fmt.Errorf("%s: %w", k.name, err)
	}
	return in, nil
}

// kernelLaw tries a law on every kernel at every point, with the kernel's
// result for comparison.
func (c *manifoldCheck) kernelLaw(name string, trial func(k kernel, want []float64) error) bool {
	return c.law(name, func(x []float64) error {
		kernels, err := c.kernels(x)
		if err != nil {
			return err
		}
		for _, k := range kernels {
			want := c.zeros()
			if _, err := k.into(want); err != nil {
				return err
			}
			if err := trial(k, want); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
		}
		return nil
	})
}

func (c *manifoldCheck) checkConventions() {
	kept := c.kernelLaw("inputs kept", func(k kernel, _ []float64) error {
		in, err := k.into(c.zeros())
		for i := range in {
			if !sameBits(in[i], k.in[i]) {
				return fmt.Errorf("changes input %d", i)
			}
		}
		return err
	})
	c.kernelLaw("destination overwritten", func(k kernel, want []float64) error {
		dst := c.poisoned()
		if _, err := k.into(dst); err != nil {
			return err
		}
		return equal(dst, want)
	})
	if kept {
		c.kernelLaw("aliasing", func(k kernel, want []float64) error {
			for i := range k.in {
				in := k.copies()
				if err := errors.Join(k.run(in[i], in), equal(in[i], want)); err != nil {
					return fmt.Errorf("destination is input %d: %w", i, err)
				}
			}
			return nil
		})
	}
	deterministic := c.kernelLaw("deterministic", func(k kernel, want []float64) error {
		dst := c.zeros()
		_, err := k.into(dst)
		if !sameBits(dst, want) {
			return errors.New("a rerun gives other bits")
		}
		return err
	})
	if deterministic {
		c.kernelLaw("concurrent", c.concurrent)
	}
}

// concurrent runs the kernel on several goroutines at once.
func (c *manifoldCheck) concurrent(k kernel, want []float64) error {
	errs := make([]error, concurrentCalls)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			<-start
			for range 3 {
				dst := c.zeros()
				if _, err := k.into(dst); err != nil {
					errs[i] = err
				} else if !sameBits(dst, want) {
					errs[i] = errors.New("calls at the same time disturb each other")
				}
			}
		})
	}
	close(start)
	wg.Wait()
	return errors.Join(errs...)
}

// order is the order that the retraction claims.
func (c *manifoldCheck) order() int {
	if o, ok := c.m.(framework.RetractionOrder); ok {
		return max(o.RetractionOrder(), 1)
	}
	return 1
}

func (c *manifoldCheck) hasMetric() bool {
	_, ok := c.m.(framework.Metric)
	return ok
}

func (c *manifoldCheck) zeros() []float64 { return make([]float64, c.m.Size()) }

// poisoned returns a destination full of NaN.
func (c *manifoldCheck) poisoned() []float64 {
	dst := c.zeros()
	fill(dst, math.NaN())
	return dst
}

func (c *manifoldCheck) gauss() []float64 {
	v := c.zeros()
	for i := range v {
		v[i] = c.rng.NormFloat64()
	}
	return v
}

// tangent returns a random tangent vector at x of length 1, or zero where there
// is no other.
func (c *manifoldCheck) tangent(x []float64) []float64 {
	v := c.project(x, c.gauss())
	if length := norm(v); c.m.Dim() > 0 && length > 0 {
		floats.Scale(1/length, v)
	} else {
		clear(v)
	}
	return v
}

// step returns a random tangent vector for which Retract and Exp succeed, of
// length 1 if they allow it.
func (c *manifoldCheck) step(x []float64) ([]float64, error) {
	v := c.tangent(x)
	var err error
	for range 30 {
		_, err = c.retract(x, v)
		if e, ok := c.m.(framework.Exper); ok && err == nil {
			err = e.Exp(c.zeros(), x, v)
		}
		if err == nil {
			return v, nil
		}
		floats.Scale(0.5, v)
	}
	return nil, fmt.Errorf("even a step of length %.2g fails: %w", 2*norm(v), err)
}

// stepAndEnd returns a step from x and the point that it leads to.
func (c *manifoldCheck) stepAndEnd(x []float64) (v, y []float64, err error) {
	if v, err = c.step(x); err != nil {
		return nil, nil, err
	}
	y, err = c.retract(x, v)
	return v, y, err
}

func (c *manifoldCheck) project(x, v []float64) []float64 {
	dst := c.zeros()
	c.m.Project(dst, slices.Clone(x), slices.Clone(v))
	return dst
}

func (c *manifoldCheck) retract(x, v []float64) ([]float64, error) {
	dst := c.zeros()
	return dst, c.m.Retract(dst, slices.Clone(x), slices.Clone(v))
}

// gradient converts a Euclidean gradient.
func (c *manifoldCheck) gradient(x, g []float64) []float64 {
	dst := c.zeros()
	framework.Block{Manifold: c.m}.Gradient(dst, x, g)
	return dst
}

// inner is the inner product of tangent vectors at x.
func (c *manifoldCheck) inner(x, u, v []float64) float64 {
	return framework.Block{Manifold: c.m}.Inner(x, u, v)
}

// onManifold returns an error if x is not finite or violates the constraint.
func (c *manifoldCheck) onManifold(x []float64) error {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("coordinate %d is %g", i, v)
		}
	}
	if m, ok := c.m.(framework.Constrained); ok {
		if off := m.Violation(x); !(off <= lawTolerance*(1+norm(x))) {
			return fmt.Errorf("the constraint is violated by %g", off)
		}
	}
	return nil
}

// linear reports whether a map is linear on the span of u and v.
func (c *manifoldCheck) linear(apply func(v []float64) []float64, u, v []float64) error {
	sum := times(-1.5, u)
	floats.Add(sum, v)
	want := times(-1.5, apply(u))
	floats.Add(want, apply(v))
	return equal(apply(sum), want)
}

// quadratic is the function x'(D + ww')x/2 + b'x.
type quadratic struct{ d, w, b []float64 }

func (f quadratic) value(x []float64) float64 {
	return floats.Dot(x, f.hessian(x))/2 + floats.Dot(f.b, x)
}

func (f quadratic) gradient(x []float64) []float64 {
	g := f.hessian(x)
	floats.Add(g, f.b)
	return g
}

// hessian applies the second derivative to v.
func (f quadratic) hessian(v []float64) []float64 {
	h := make([]float64, len(v))
	floats.MulTo(h, f.d, v)
	floats.AddScaled(h, floats.Dot(f.w, v), f.w)
	return h
}

// magnitude bounds the numbers that value adds up.
func (f quadratic) magnitude(x []float64) float64 {
	return norm(x) * (norm(f.b) + norm(x)*(floats.Norm(f.d, math.Inf(1))+floats.Dot(f.w, f.w)))
}

func norm(v []float64) float64 { return floats.Norm(v, 2) }

// times returns a v.
func times(a float64, v []float64) []float64 {
	return floats.ScaleTo(make([]float64, len(v)), a, v)
}

func fill(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}

// equal returns an error if got differs from want by more than rounding.
func equal(got, want []float64) error {
	if d := floats.Distance(got, want, 2); !(d <= lawTolerance*(1+norm(want))) {
		return fmt.Errorf("off by %g", d)
	}
	return nil
}

// equalNumbers is equal for numbers that are sums of terms of size scale.
func equalNumbers(got, want, scale float64) error {
	if d := math.Abs(got - want); !(d <= lawTolerance*(1+scale)) {
		return fmt.Errorf("%g where %g is due", got, want)
	}
	return nil
}

// sameBits reports whether a and b are equal to the last bit.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// rank is the rank of vectors whose entries are of size 1.
func rank(vectors [][]float64) (int, error) {
	gram := mat.NewSymDense(len(vectors), nil)
	for i, u := range vectors {
		for j, v := range vectors[:i+1] {
			gram.SetSym(i, j, floats.Dot(u, v))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, false) {
		return 0, errors.New("the rank of the projection cannot be computed")
	}
	var n int
	for _, v := range eigen.Values(nil) {
		if v > 1e-9 {
			n++
		}
	}
	return n, nil
}
