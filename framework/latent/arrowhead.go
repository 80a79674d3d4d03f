package latent

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// ArrowheadHessian is a problem with second derivatives in the shape of an
// arrowhead. Its cost is
//
//	F(y, t_1, ..., t_N) = f_0(y) + sum_i f_i(y, t_i),
//
// where t_1, ..., t_N are the rows of one Euclidean inner block, and y stands for all other blocks, the outer ones.
// In bundle adjustment the rows are the points and y the cameras; in errors-in-variables regression the rows are the
// true abscissae and y the curve. The Hessian is
//
//	[ A    B_1  ...  B_N ]
//	[ B_1' C_1           ]
//	[ ...       ...      ]
//	[ B_N'           C_N ]
//
// and Newton steps cost as much as the Schur complement A - sum_i B_i C_i^-1
// B_i'.
//
// Outer blocks move along P tangent coordinates v. The curve y(v), with y(0) = y, is any parametrisation of their
// manifolds near y that is smooth to third order. Coordinates need not be orthonormal. Their basis may differ from
// point to point, but must depend on the point only. The derivatives are those of F(y(v), t + w) at v = 0, w = 0.
// Second derivatives include the second derivative of y(v): for an outer block on the Stiefel manifold with the polar
// retraction, -X V'V for the tangent vector V at X.
type ArrowheadHessian interface {
	// ArrowheadShape returns the sizes; they do not change. It returns false if the problem, with its settings, has
	// no such structure or would not fit in memory.
	ArrowheadShape() (ArrowheadShape, bool)
	// AssembleHessian overwrites a with all derivatives at x. It returns the cost and the work in passes (see
	// [framework.Counts]). The work must not depend on cached results of earlier calls: solvers use it, and a stored
	// run has no cache.
	AssembleHessian(a *Arrowhead, x framework.Point) (cost, passes float64, err error)
	// RetractOuter writes y(v) into the outer blocks of dst, for the outer blocks y of x and the coordinates that
	// AssembleHessian uses at x. It does not change the inner block of dst. It fails if no such point exists.
	RetractOuter(dst, x framework.Point, v []float64) error
	// InnerStep improves the inner block of x for fixed outer blocks, in place. Each row starts from the better of
	// itself and the row of other. It takes one damped Newton step on its own cost, which is kept if it lowers the
	// cost. InnerStep returns the cost at the new x, and the work in passes.
	InnerStep(x framework.Point, other []float64) (cost, passes float64, err error)
}

// ArrowheadShape holds the sizes of an arrowhead.
type ArrowheadShape struct {
	// Block is the number of the inner block.
	Block int
	// Outer is P, the number of tangent coordinates of all outer blocks. Directions along which the cost never
	// changes, such as shifts of a plane along itself, should be left out.
	Outer int
	// Rows is N, the number of rows of the inner block, and Dim the length of a row. If N = 0, for example because
	// the problem eliminates the rows itself, Block has no meaning.
	Rows, Dim int
}

// Inner is the number of coordinates of the inner block.
func (s ArrowheadShape) Inner() int { return s.Rows * s.Dim }

// Arrowhead holds first and second derivatives in the shape of an arrowhead. Matrices
// are row-major.
type Arrowhead struct {
	ArrowheadShape
	// OuterGrad has P entries, InnerGrad Dim for each row.
	OuterGrad, InnerGrad []float64
	// A is P x P, symmetric with both triangles filled.
	A []float64
	// B is P x (N Dim): columns i Dim to (i+1) Dim are B_i.
	B []float64
	// C holds the C_i one after the other, Dim x Dim each, symmetric with both
	// triangles filled.
	C []float64
}

// NewArrowhead returns zeros in the given shape.
func NewArrowhead(s ArrowheadShape) *Arrowhead {
	return &Arrowhead{
		ArrowheadShape: s,
		OuterGrad:      make([]float64, s.Outer), InnerGrad: make([]float64, s.Inner()),
		A: make([]float64, s.Outer*s.Outer),
		B: make([]float64, s.Outer*s.Inner()),
		C: make([]float64, s.Inner()*s.Dim),
	}
}

// Finite reports whether every derivative is finite.
func (a *Arrowhead) Finite() bool {
	for _, x := range [...][]float64{a.OuterGrad, a.InnerGrad, a.A, a.B, a.C} {
		// Entries that are not finite poison the sum. So does overflow.
		if sum := floats.Sum(x); sum-sum != 0 && slices.ContainsFunc(x, func(v float64) bool { return v-v != 0 }) {
			return false
		}
	}
	return true
}

// ShapeOf returns the sizes of the problem's arrowhead, if it has one.
func ShapeOf(e *framework.Evaluator) (ArrowheadShape, bool) {
	if p, ok := framework.As[ArrowheadHessian](e.Problem()); ok {
		return p.ArrowheadShape()
	}
	return ArrowheadShape{}, false
}

// AssembleHessian computes the derivatives at x of a problem that has an arrowhead; see [ArrowheadHessian]. It counts
// as one evaluation. Costs that are not finite are treated as by Evaluate.
func AssembleHessian(e *framework.Evaluator, a *Arrowhead, x framework.Point) (float64, error) {
	p, _ := framework.As[ArrowheadHessian](e.Problem())
	return assemble(e, a, "second derivatives", func() (cost, passes float64, err error) { return p.AssembleHessian(a, x) })
}

// assemble counts a call that computes a cost and its derivatives, and checks both.
func assemble(e *framework.Evaluator, a *Arrowhead, what string, call func() (cost, passes float64, err error)) (float64, error) {
	cost, err := chargeCost(e, what, call)
	if err == nil && !math.IsInf(cost, 0) && !a.Finite() {
		err = fmt.Errorf("%w: the %s have NaN or Inf at a point of finite cost", framework.ErrNonFinite, what)
	}
	return cost, err
}

// chargeCost counts a call that computes a cost, and prefixes its error with the name of the call.
func chargeCost(e *framework.Evaluator, what string, call func() (cost, passes float64, err error)) (float64, error) {
	return e.ChargeCost(func() (cost, passes float64, err error) {
		if cost, passes, err = call(); err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		return cost, passes, err
	})
}

// RetractOuter moves the outer blocks of a problem that has an arrowhead; see
// [ArrowheadHessian].
func RetractOuter(e *framework.Evaluator, dst, x framework.Point, v []float64) error {
	p, _ := framework.As[ArrowheadHessian](e.Problem())
	return p.RetractOuter(dst, x, v)
}

// InnerStep improves the inner block of a problem that has an arrowhead; see
// [ArrowheadHessian]. It counts as one evaluation. Costs that are not finite are
// treated as by Evaluate.
func InnerStep(e *framework.Evaluator, x framework.Point, other []float64) (float64, error) {
	p, _ := framework.As[ArrowheadHessian](e.Problem())
	return chargeCost(e, "inner rows", func() (cost, passes float64, err error) { return p.InnerStep(x, other) })
}
