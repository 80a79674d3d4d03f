package scqm

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/latent"
)

// arrowheadProblem is a problem with second derivatives in the shape of an arrowhead.
type arrowheadProblem interface {
	framework.Problem
	latent.ArrowheadHessian
}

// brokenArrowhead tries the laws of latent.ArrowheadHessian at a point and says which are broken, and how.
func brokenArrowhead(p arrowheadProblem, x framework.Point, seed uint64) map[string]error {
	broken := map[string]error{}
	shape, ok := p.ArrowheadShape()
	if !ok {
		return broken
	}
	k := &arrowCheck{problem: p, rng: rand.New(rand.NewPCG(seed, 1)), blocks: p.Blocks(), x: x, a: latent.NewArrowhead(shape)}
	try := func(law string, trial func() error) bool {
		if err := trial(); err != nil {
			broken[law] = err
		}
		return len(broken) == 0
	}
	if !try("arrowhead shape", k.shapeIsSound) || !try("arrowhead written and symmetric", k.assemble) {
		return broken
	}
	try("arrowhead slope, outer", func() error { return k.slope(true, false) })
	try("arrowhead slope, inner", func() error { return k.slope(false, true) })
	try("arrowhead slope, joint", func() error { return k.slope(true, true) })
	try("arrowhead move", k.move)
	try("inner step", k.innerStep)
	try("arrowhead passes", k.passes) // last, as it draws
	return broken
}

// arrowCheck checks second derivatives at a point where the cost is smooth.
type arrowCheck struct {
	problem arrowheadProblem
	rng     *rand.Rand
	blocks  []framework.Block
	x       framework.Point
	a       *latent.Arrowhead
	cost    float64
}

// coordinate is a random number between 1/2 and 3/2 with a random sign: the mistake
// in one entry of a derivative would escape a direction in which that is next to zero.
func (k *arrowCheck) coordinate() float64 {
	return math.Copysign(0.5+k.rng.Float64(), k.rng.Float64()-0.5)
}

// bestSlope measures until a slope is as wanted: an error of a derivative shows in all directions; a sound
// one can look wrong in one, where terms of the remainder nearly cancel.
func bestSlope(want float64, measure func() (frameworktest.Slope, error)) (best frameworktest.Slope, err error) {
	for try := range 6 {
		slope, err := measure()
		if err != nil || slope.AtLeast(want) {
			return slope, err
		}
		if try == 0 || slope.Slope > best.Slope {
			best = slope
		}
	}
	return best, nil
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

// assemble assembles the system twice, each time over NaN, and checks that every entry is written, that the point
// stays unchanged, that the cost is the cost of Evaluate, and that A and C are symmetric.
func (k *arrowCheck) assemble() error {
	for range 2 {
		for _, x := range [][]float64{k.a.OuterGrad, k.a.InnerGrad, k.a.A, k.a.B, k.a.C} {
			floats.AddConst(math.NaN(), x)
		}
		before := k.x.Clone()
		var err error
		if k.cost, _, err = k.problem.AssembleHessian(k.a, k.x); err != nil {
			return err
		}
		if !before.Equal(k.x) {
			return fmt.Errorf("the point is changed")
		}
		if !k.a.Finite() {
			return fmt.Errorf("some derivatives are not written or not finite")
		}
	}
	cost, err := k.problem.Evaluate(nil, k.x)
	if err != nil {
		return err
	}
	if math.Abs(cost-k.cost) > 1e-12*math.Abs(cost) {
		return fmt.Errorf("the cost is %v, and %v with second derivatives", cost, k.cost)
	}
	if err := symmetricMatrix(k.a.A, k.a.Outer); err != nil {
		return fmt.Errorf("block A: %w", err)
	}
	for i, d := 0, k.a.Dim; i < k.a.Rows; i++ {
		if err := symmetricMatrix(k.a.C[i*d*d:(i+1)*d*d], d); err != nil {
			return fmt.Errorf("block C of row %d: %w", i, err)
		}
	}
	return nil
}

// passes checks that the number of passes at a point does not depend on the call before: reused work may save
// time, but counts all the same.
func (k *arrowCheck) passes() error {
	v, _ := k.draw(true, false)
	elsewhere := k.x.Clone()
	if err := k.problem.RetractOuter(elsewhere, k.x, v); err != nil {
		return err
	}
	var passes [3]float64
	for i, x := range []framework.Point{elsewhere, k.x, k.x} {
		var err error
		if _, passes[i], err = k.problem.AssembleHessian(k.a, x); err != nil {
			return err
		}
	}
	if passes[1] != passes[2] {
		return fmt.Errorf("%v passes, and %v after a call at the same point: a run that was stored goes another way", passes[1], passes[2])
	}
	return nil
}

func symmetricMatrix(a []float64, n int) error {
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

// draw returns random steps whose second-order terms are about the size of the cost.
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
	slope, err := bestSlope(3, func() (frameworktest.Slope, error) {
		v, w := k.draw(outer, inner)
		first, second := k.model(v, w)
		scaled := make([]float64, len(v))
		return frameworktest.TaylorSlope(func(t float64) (float64, float64, error) {
			if err := k.problem.RetractOuter(trial, k.x, floats.ScaleTo(scaled, t, v)); err != nil {
				return 0, 0, err
			}
			floats.AddScaledTo(trial[k.a.Block], k.x[k.a.Block], t, w)
			now, err := k.problem.Evaluate(nil, trial)
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

// move checks that RetractOuter writes points of the manifolds after a long step and leaves the inner block alone.
func (k *arrowCheck) move() error {
	before, dst := k.x.Clone(), framework.NewPoint(k.blocks)
	for _, b := range dst {
		floats.AddConst(math.NaN(), b)
	}
	v, _ := k.draw(true, false)
	if err := k.problem.RetractOuter(dst, k.x, v); err != nil {
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

// innerStep checks the cost that InnerStep returns, and that it is no higher than with either set of inner rows.
func (k *arrowCheck) innerStep() error {
	x := k.x.Clone()
	_, w := k.draw(false, true)
	other := make([]float64, len(w))
	floats.AddTo(other, x[k.a.Block], w)
	mixed := x.Clone()
	copy(mixed[k.a.Block], other)
	bound, err := k.problem.Evaluate(nil, mixed)
	if err != nil {
		return err
	}
	cost, passes, err := k.problem.InnerStep(x, other)
	if err != nil {
		return err
	}
	now, err := k.problem.Evaluate(nil, x)
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

// walks checks that InnerStep lowers the cost where it is given the rows of the point itself: each row then takes
// a step of its own.
func (k *arrowCheck) walks() error {
	x := k.x.Clone()
	cost, _, err := k.problem.InnerStep(x, k.x[k.a.Block])
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
