package frameworktest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// checkArrowhead tries the laws of latent.ArrowheadHessian.
func (c *problemCheck) checkArrowhead(r *Report) {
	p, ok := c.p.(latent.ArrowheadHessian)
	if !ok {
		return
	}
	shape, ok := p.ArrowheadShape()
	if !ok {
		return
	}
	a := &arrowCheck{problemCheck: c, p: p, a: latent.NewArrowhead(shape)}
	r.try("arrowhead shape", a.shapeIsSound)
	if !r.OK() {
		return
	}
	r.try("arrowhead written and symmetric", a.assemble)
	if !r.OK() {
		return
	}
	r.try("arrowhead slope, outer", func() error { return a.slope(true, false) })
	r.try("arrowhead slope, inner", func() error { return a.slope(false, true) })
	r.try("arrowhead slope, joint", func() error { return a.slope(true, true) })
	r.try("arrowhead move", a.move)
	r.try("inner step", a.innerStep)
	r.try("arrowhead passes", a.passes) // last, as it draws
}

// arrowCheck checks second derivatives at the point of a problemCheck.
type arrowCheck struct {
	*problemCheck
	p    latent.ArrowheadHessian
	a    *latent.Arrowhead
	cost float64
}

func (k *arrowCheck) shapeIsSound() error {
	if k.a.Block < 0 || k.a.Block >= len(k.blocks) {
		return fmt.Errorf("inner block %d of %d", k.a.Block, len(k.blocks))
	}
	inner := k.blocks[k.a.Block]
	if inner.Rows() != k.a.Rows || inner.Manifold.Size() != k.a.Dim || inner.Manifold.Dim() != k.a.Dim {
		return fmt.Errorf("%d inner rows of length %d do not fit block %s", k.a.Rows, k.a.Dim, inner.Name)
	}
	dim := 0
	for j, b := range k.blocks {
		if j != k.a.Block {
			dim += b.Dim()
		}
	}
	if k.a.Outer > dim {
		return fmt.Errorf("%d outer coordinates for blocks of dimension %d", k.a.Outer, dim)
	}
	return nil
}

// assemble fills the matrices, which held NaN, twice.
func (k *arrowCheck) assemble() error {
	for range 2 {
		for _, x := range [][]float64{k.a.OuterGrad, k.a.InnerGrad, k.a.A, k.a.B, k.a.C} {
			floats.AddConst(math.NaN(), x)
		}
		before := k.x.Clone()
		var err error
		if k.cost, _, err = k.p.AssembleHessian(k.a, k.x); err != nil {
			return err
		}
		if !before.Equal(k.x) {
			return fmt.Errorf("the point is changed")
		}
		if !k.a.Finite() {
			return fmt.Errorf("some derivatives are not written or not finite")
		}
	}
	cost, err := k.c0()
	if err != nil {
		return err
	}
	if math.Abs(cost-k.cost) > 1e-12*math.Abs(cost) {
		return fmt.Errorf("the cost is %v, and %v with second derivatives", cost, k.cost)
	}
	if err := symmetric(k.a.A, k.a.Outer); err != nil {
		return fmt.Errorf("block A: %w", err)
	}
	for i, d := 0, k.a.Dim; i < k.a.Rows; i++ {
		if err := symmetric(k.a.C[i*d*d:(i+1)*d*d], d); err != nil {
			return fmt.Errorf("block C of row %d: %w", i, err)
		}
	}
	return nil
}

// passes assembles twice at the point, the first time after another point: what is kept from
// the call before may save time, but counts nothing.
func (k *arrowCheck) passes() error {
	v, _ := k.draw(true, false)
	elsewhere := k.x.Clone()
	if err := k.p.RetractOuter(elsewhere, k.x, v); err != nil {
		return err
	}
	var passes [3]float64
	for i, x := range []framework.Point{elsewhere, k.x, k.x} {
		var err error
		if _, passes[i], err = k.p.AssembleHessian(k.a, x); err != nil {
			return err
		}
	}
	if passes[1] != passes[2] {
		return fmt.Errorf("%v passes, and %v after a call at the same point: a run that was stored goes another way", passes[1], passes[2])
	}
	return nil
}

func (k *arrowCheck) c0() (float64, error) { return k.problemCheck.p.Evaluate(nil, k.x) }

func symmetric(a []float64, n int) error {
	size := 1e-10 * floats.Norm(a, math.Inf(1))
	for i := range n {
		for j := range i {
			if math.Abs(a[i*n+j]-a[j*n+i]) > size {
				return fmt.Errorf("entries (%d, %d) and (%d, %d) are %g and %g", i, j, j, i, a[i*n+j], a[j*n+i])
			}
		}
	}
	return nil
}

// draw returns random coordinates in units in which the cost has a curvature of
// about the cost itself.
func (k *arrowCheck) draw(outer, inner bool) (v, w []float64) {
	scale := func(n int, curvature func(i int) float64, wanted bool) []float64 {
		u := make([]float64, n)
		var most float64
		for i := range u {
			most = math.Max(most, math.Abs(curvature(i)))
		}
		for i := range u {
			if wanted && most > 0 {
				u[i] = k.coordinate() * math.Sqrt(math.Abs(k.cost)/float64(n)/math.Max(math.Abs(curvature(i)), 1e-2*most))
			}
		}
		return u
	}
	p, d := k.a.Outer, k.a.Dim
	v = scale(p, func(i int) float64 { return k.a.A[i*p+i] }, outer)
	w = scale(k.a.Inner(), func(i int) float64 { return k.a.C[i*d+i%d] }, inner)
	return v, w
}

// model returns the first and second derivative along (v, w).
func (k *arrowCheck) model(v, w []float64) (first, second float64) {
	p, d, nd := k.a.Outer, k.a.Dim, k.a.Inner()
	first = floats.Dot(k.a.OuterGrad, v) + floats.Dot(k.a.InnerGrad, w)
	for i, x := range v {
		second += x * (floats.Dot(k.a.A[i*p:(i+1)*p], v) + 2*floats.Dot(k.a.B[i*nd:(i+1)*nd], w))
	}
	for i, x := range w {
		from := i / d * d
		second += x * floats.Dot(k.a.C[i*d:(i+1)*d], w[from:from+d])
	}
	return first, second
}

func (k *arrowCheck) slope(outer, inner bool) error {
	trial := k.x.Clone()
	slope, err := bestSlope(3, func() (Slope, error) {
		v, w := k.draw(outer, inner)
		first, second := k.model(v, w)
		scaled := make([]float64, len(v))
		return TaylorSlope(func(t float64) (float64, float64, error) {
			if err := k.p.RetractOuter(trial, k.x, floats.ScaleTo(scaled, t, v)); err != nil {
				return 0, 0, err
			}
			floats.AddScaledTo(trial[k.a.Block], k.x[k.a.Block], t, w)
			now, err := k.problemCheck.p.Evaluate(nil, trial)
			e := math.Abs(now - k.cost - t*first - t*t*second/2)
			return e, math.Max(math.Abs(now), math.Abs(k.cost)), err
		})
	})
	if err != nil {
		return err
	}
	if !slope.AtLeast(3) {
		return fmt.Errorf("slope %v, want 3: the second derivatives are wrong, or the cost has a kink here", slope)
	}
	return nil
}

// move goes a long way and looks where it arrives.
func (k *arrowCheck) move() error {
	before, dst := k.x.Clone(), k.poisoned()
	v, _ := k.draw(true, false)
	if err := k.p.RetractOuter(dst, k.x, v); err != nil {
		return err
	}
	if !before.Equal(k.x) {
		return fmt.Errorf("the point is changed")
	}
	for j, b := range k.blocks {
		switch {
		case j == k.a.Block:
			if b.Size() > 0 && !math.IsNaN(dst[j][0]) {
				return fmt.Errorf("the inner block is written")
			}
		case !(framework.Point{dst[j]}).Finite():
			return fmt.Errorf("block %s is not written or not finite", b.Name)
		case b.Violation(dst[j]) > 1e-12:
			return fmt.Errorf("block %s leaves its manifold by %g", b.Name, b.Violation(dst[j]))
		}
	}
	return nil
}

// innerStep offers other rows, good and bad ones, and compares costs.
func (k *arrowCheck) innerStep() error {
	x := k.x.Clone()
	_, w := k.draw(false, true)
	other := make([]float64, len(w))
	floats.AddTo(other, x[k.a.Block], w)
	mixed := x.Clone()
	copy(mixed[k.a.Block], other)
	bound, err := k.problemCheck.p.Evaluate(nil, mixed)
	if err != nil {
		return err
	}
	cost, passes, err := k.p.InnerStep(x, other)
	if err != nil {
		return err
	}
	now, err := k.problemCheck.p.Evaluate(nil, x)
	if err != nil {
		return err
	}
	noise := 1e-12 * math.Abs(k.cost)
	switch {
	case !(passes > 0):
		return fmt.Errorf("it costs %v passes", passes)
	case math.Abs(cost-now) > noise:
		return fmt.Errorf("the cost is %v, but it returns %v", now, cost)
	case now > math.Min(bound, k.cost)+noise:
		return fmt.Errorf("the cost is %v, but %v and %v with the rows to choose from", now, k.cost, bound)
	}
	for j := range x {
		if j != k.a.Block && !(framework.Point{x[j]}).Equal(framework.Point{k.x[j]}) {
			return fmt.Errorf("it moves block %s", k.blocks[j].Name)
		}
	}
	return k.walks()
}

// walks takes inner steps of rows that have nowhere better to go to: they move by
// themselves.
func (k *arrowCheck) walks() error {
	x := k.x.Clone()
	cost, _, err := k.p.InnerStep(x, k.x[k.a.Block])
	if err != nil {
		return err
	}
	var slope float64
	for i, g := range k.a.InnerGrad {
		slope += math.Abs(g * x[k.a.Block][i])
	}
	if slope > 1e-6*math.Abs(k.cost) && !(cost < k.cost) {
		return fmt.Errorf("no row takes a step of its own")
	}
	return nil
}
