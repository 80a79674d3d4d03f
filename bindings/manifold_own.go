package bindings

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/bindings/internal/python"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
)

// ownCalls holds the addresses through which a manifold written in Python is called.
type ownCalls struct {
	// Functions maps each operation to the address of a function without arguments. The operations are
	// projection, retraction, transport, random_point, violation, nearest_point, exp,
	// dist, log with dist, inner with riemannian_gradient, and riemannian_hessian. The first two
	// are required. Functions read and write the arrays. A function whose result is an array returns 1, or
	// 0 if the result is not defined. The others return their result, a number.
	Functions map[string]uint64 `json:"functions"`
	// Arrays holds the addresses of the arrays of four operands and of the result.
	Arrays []uint64 `json:"arrays"`
	// Raised is the address of the list to which an exception is appended.
	Raised uint64 `json:"raised"`
}

// ownManifold is a manifold whose operations are Python functions. See
// [ownManifold.offered].
type ownManifold struct {
	name      string
	size, dim int
	functions map[string]function
	// fail is called with the first exception. After it no function is called, and results are NaN.
	fail func(error) error
	// start is a point from which Rand starts if Python has no random points.
	start []float64

	mu     sync.Mutex // guards the fields below
	in     [4][]float64
	out    []float64
	raised error
}

// own returns a manifold written in Python. Shape holds the number of entries of a
// point and the dimension.
func (c manifoldChoice) own(fail func(error) error) (*ownManifold, error) {
	const entries, places = 2, 5
	if len(c.Shape) != entries || c.Shape[0] < 1 || c.Shape[0] > maxEntries || len(c.Own.Arrays) != places || c.Own.Raised == 0 {
		return nil, fmt.Errorf("manifold %s: shape %v and %d arrays: %w", c.Kind, c.Shape, len(c.Own.Arrays), framework.ErrInvalid)
	}
	m := &ownManifold{name: c.Kind, size: c.Shape[0], dim: c.Shape[1], functions: map[string]function{}, fail: fail}
	for k, to := range []*[]float64{&m.in[0], &m.in[1], &m.in[2], &m.in[3], &m.out} {
		var err error
		if *to, err = view("array", c.Own.Arrays[k], m.size); err != nil {
			return nil, err
		}
	}
	for operation, address := range c.Own.Functions {
		m.functions[operation] = python.Function{Object: address, Raised: c.Own.Raised}
	}
	if m.functions["projection"] == nil || m.functions["retraction"] == nil {
		return nil, fmt.Errorf("manifold %s has no projection or no retraction: %w", c.Kind, framework.ErrInvalid)
	}
	return m, nil
}

// number calls a Python function that returns its result.
func (m *ownManifold) number(operation string, in ...[]float64) (float64, error) {
	return m.write(operation, nil, in...)
}

// write calls a Python function that writes its result, and copies the result to dst.
func (m *ownManifold) write(operation string, dst []float64, in ...[]float64) (float64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value := math.NaN()
	if m.raised == nil {
		for k, x := range in {
			copy(m.in[k], x)
		}
		if value, m.raised = m.functions[operation].Number(); m.raised != nil && m.fail != nil {
			m.raised = m.fail(m.raised)
		}
	}
	if m.raised != nil {
		fill(dst, math.NaN())
		return math.NaN(), m.raised
	}
	copy(dst, m.out)
	return value, nil
}

// defined calls write and returns an error if the result does not exist. For operands
// that are not finite it does not exist.
func (m *ownManifold) defined(operation string, dst []float64, in ...[]float64) error {
	if !framework.Point(in).Finite() {
		return fmt.Errorf("%s of NaN or infinite entries: %w", operation, framework.ErrNonFinite)
	}
	exists, err := m.write(operation, dst, in...)
	if err == nil && exists != 1 {
		err = fmt.Errorf("%s is not defined there", operation)
	}
	return err
}

// String returns the name of the class in Python.
func (m *ownManifold) String() string { return m.name }

// Size implements [framework.Manifold].
func (m *ownManifold) Size() int { return m.size }

// Dim implements [framework.Manifold].
func (m *ownManifold) Dim() int { return m.dim }

// Project implements [framework.Manifold].
func (m *ownManifold) Project(dst, x, v []float64) { m.write("projection", dst, x, v) }

// Retract implements [framework.Manifold].
func (m *ownManifold) Retract(dst, x, v []float64) error {
	err := m.defined("retraction", dst, x, v)
	if err == nil && !(m.Violation(dst) <= maxViolation) {
		err = fmt.Errorf("retraction ends off the manifold")
	}
	return err
}

// Transport implements [framework.Transporter]. It projects if Python has no transport.
func (m *ownManifold) Transport(dst, x, y, v []float64) {
	if m.functions["transport"] == nil {
		m.Project(dst, y, v)
		return
	}
	m.write("transport", dst, x, y, v)
}

// Violation implements [framework.Constrained]. If Python has no such function, it returns 0 for a finite point.
func (m *ownManifold) Violation(x []float64) float64 {
	if !(framework.Point{x}).Finite() {
		return math.Inf(1)
	}
	if m.functions["violation"] == nil {
		return 0
	}
	off, _ := m.number("violation", x)
	return off
}

// Restore implements [framework.Constrained]. If Python has no nearest_point, it
// retracts by a step of length 0.
func (m *ownManifold) Restore(x []float64) error {
	if !(framework.Point{x}).Finite() {
		return fmt.Errorf("the point is not finite: %w", framework.ErrNonFinite)
	}
	if m.functions["nearest_point"] == nil {
		return m.defined("retraction", x, x, make([]float64, m.size))
	}
	return m.defined("nearest_point", x, x)
}

// Rand implements [framework.Rander]. If Python has no random_point, it takes a random step from start.
func (m *ownManifold) Rand(dst []float64, rng *rand.Rand) {
	if m.functions["random_point"] != nil {
		const exact = 11 // number of random bits that do not fit into a float64
		m.write("random_point", dst, []float64{float64(rng.Uint64() >> exact)})
		return
	}
	v := make([]float64, m.size)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	m.Project(v, m.start, v)
	floats.Scale(1/math.Max(floats.Norm(v, 2), 1), v)
	if m.Retract(dst, m.start, v) != nil {
		copy(dst, m.start)
	}
}

type (
	ownMetric   struct{ own *ownManifold }
	ownExp      struct{ own *ownManifold }
	ownLog      struct{ own *ownManifold }
	ownDistance struct{ own *ownManifold }
	ownHessian  struct{ own *ownManifold }
)

// Inner implements [framework.Metric].
func (m ownMetric) Inner(x, u, v []float64) float64 {
	if m.own.functions["inner"] == nil {
		return floats.Dot(u, v)
	}
	value, _ := m.own.number("inner", x, u, v)
	return value
}

// Gradient implements [framework.Metric].
func (m ownMetric) Gradient(dst, x, g []float64) {
	if m.own.functions["inner"] == nil {
		m.own.Project(dst, x, g)
		return
	}
	m.own.write("riemannian_gradient", dst, x, g)
}

// Exp implements [framework.Exper].
func (m ownExp) Exp(dst, x, v []float64) error { return m.own.defined("exp", dst, x, v) }

// Log implements [framework.Logarithm].
func (m ownLog) Log(dst, x, y []float64) error { return m.own.defined("log", dst, x, y) }

// Distance implements [framework.Distance].
func (m ownDistance) Distance(x, y []float64) (float64, error) {
	if !(framework.Point{x, y}).Finite() {
		return 0, fmt.Errorf("dist of NaN or infinite entries: %w", framework.ErrNonFinite)
	}
	d, err := m.own.number("dist", x, y)
	if err == nil && math.IsNaN(d) {
		err = fmt.Errorf("dist is not defined there")
	}
	return d, err
}

// RiemannianHessian implements [framework.HessianConverter].
func (m ownHessian) RiemannianHessian(dst, x, g, h, v []float64) {
	m.own.write("riemannian_hessian", dst, x, g, h, v)
}

// The optional interfaces in the combinations that there are: for solvers, a manifold with
// neither a metric of its own nor a conversion of Hessians has none of them.
type (
	ownRiemannian struct {
		*ownManifold
		ownMetric
	}
	ownWithExp struct {
		ownRiemannian
		ownExp
	}
	ownWithDistance struct {
		ownRiemannian
		ownDistance
	}
	ownWithLog struct {
		ownWithDistance
		ownLog
	}
	ownWithExpAndDistance struct {
		ownWithExp
		ownDistance
	}
	ownWithAll struct {
		ownWithExpAndDistance
		ownLog
	}
	ownRiemannianWithHessian struct {
		ownRiemannian
		ownHessian
	}
	ownWithExpAndHessian struct {
		ownWithExp
		ownHessian
	}
)

// forSolvers returns the manifold with the optional interfaces that solvers use and Python supports.
func (m *ownManifold) forSolvers() framework.Manifold {
	own := ownRiemannian{m, ownMetric{m}}
	switch metric, converts := m.functions["inner"] != nil, m.functions["riemannian_hessian"] != nil; {
	case metric && converts && m.functions["exp"] != nil:
		return ownWithExpAndHessian{ownWithExp{own, ownExp{m}}, ownHessian{m}}
	case converts:
		return ownRiemannianWithHessian{own, ownHessian{m}}
	case metric:
		return m.offered()
	}
	return m
}

// offered returns the manifold with all optional interfaces that Python supports,
// except the conversion of Hessians.
func (m *ownManifold) offered() framework.Manifold {
	own, dist, log := ownRiemannian{m, ownMetric{m}}, ownDistance{m}, ownLog{m}
	exp := ownWithExp{own, ownExp{m}}
	switch {
	case m.functions["exp"] != nil && m.functions["log"] != nil:
		return ownWithAll{ownWithExpAndDistance{exp, dist}, log}
	case m.functions["exp"] != nil && m.functions["dist"] != nil:
		return ownWithExpAndDistance{exp, dist}
	case m.functions["exp"] != nil:
		return exp
	case m.functions["log"] != nil:
		return ownWithLog{ownWithDistance{own, dist}, log}
	case m.functions["dist"] != nil:
		return ownWithDistance{own, dist}
	}
	return own
}

// CheckManifold checks a manifold written in Python against the laws of manifolds, at random points
// and at the point at address x. manifold is a JSON object as in the settings of [Minimize]. The
// report has the form of [CheckProblem]. It is empty if a function raised an exception.
func CheckManifold(manifold string, seed int64, x uint64) (string, error) {
	return guarded("check manifold", func() (string, error) {
		var c manifoldChoice
		if err := decode(manifold, &c); err != nil {
			return "", err
		}
		m, err := c.own(nil)
		if err != nil {
			return "", err
		}
		if m.start, err = optionalView("x", x, m.size); err != nil {
			return "", err
		}
		var points [][]float64
		if m.start != nil {
			points = append(points, m.start)
		}
		report := frameworktest.CheckManifold(c.Kind, m.offered(), uint64(seed), points...)
		if m.functions["riemannian_hessian"] != nil {
			converter := ownRiemannianWithHessian{ownRiemannian{m, ownMetric{m}}, ownHessian{m}}
			for _, v := range frameworktest.CheckManifold(c.Kind, converter, uint64(seed), points...).Verdicts {
				if strings.HasPrefix(v.Law, "hessian") {
					report.Verdicts = append(report.Verdicts, v)
				}
			}
		}
		if m.raised != nil {
			return "", nil
		}
		return encode(report.Verdicts)
	})
}
