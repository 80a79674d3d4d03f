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
// where t_1, ..., t_N are the rows of one inner block, a Euclidean one, and y
// stands for all other blocks, the outer ones. In bundle adjustment the rows
// are the points and y the cameras; in errors-in-variables regression the rows
// are the true abscissae and y the curve. The Hessian is
//
//	[ A    B_1  ...  B_N ]
//	[ B_1' C_1           ]
//	[ ...       ...      ]
//	[ B_N'           C_N ]
//
// and Newton steps cost as much as the Schur complement A - sum_i B_i C_i^-1
// B_i'.
//
// Outer blocks move along P tangent coordinates v: y(v), with y(0) = y, is any
// parametrisation of their manifolds near y that is smooth to third order.
// Coordinates need not be orthonormal, and their basis may differ from point to
// point, but it must depend on the point only. The derivatives are those of
// F(y(v), t + w) at v = 0, w = 0; those of second order include what the
// second derivative of y(v) contributes: for an outer block on the Stiefel
// manifold with the polar retraction, -X V'V for the tangent vector V at X.
type ArrowheadHessian interface {
	// ArrowheadShape returns the sizes; they do not change. It reports false where
	// the problem, as it is set up, has no such structure or where it would not
	// fit in memory.
	ArrowheadShape() (ArrowheadShape, bool)
	// AssembleHessian writes all derivatives at x over whatever a holds. It
	// returns the cost and the work done in passes (see [framework.Counts]), which must not
	// depend on what was kept from earlier calls: solvers go by it, and a run that
	// was stored keeps nothing.
	AssembleHessian(a *Arrowhead, x framework.Point) (cost, passes float64, err error)
	// RetractOuter writes y(v) into the outer blocks of dst, for the outer blocks
	// y of x and the coordinates that AssembleHessian uses at x. It leaves the
	// inner block of dst alone. It fails where no such point exists.
	RetractOuter(dst, x framework.Point, v []float64) error
	// InnerStep improves the inner block of x for its outer ones, in place:
	// every row becomes the better one of itself and the row of other, and
	// takes from there one damped Newton step on its own cost, which it keeps
	// if that lowers the cost. It returns the cost at the new x, and the work
	// done in passes.
	InnerStep(x framework.Point, other []float64) (cost, passes float64, err error)
}

// ArrowheadShape holds the sizes of an arrowhead.
type ArrowheadShape struct {
	// Block is the number of the inner block.
	Block int
	// Outer is P, the number of tangent coordinates of all outer blocks. Directions along which the
	// cost never changes, such as shifts of a plane along itself, are best left out.
	Outer int
	// Rows is N, the number of rows of the inner block, and Dim the length of
	// one. Without rows, as where the problem eliminates them itself, Block means
	// nothing.
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

// ShapeOf returns the sizes of the problem's arrowhead, where it has one.
func ShapeOf(e *framework.Evaluator) (ArrowheadShape, bool) {
	if p, ok := framework.As[ArrowheadHessian](e.Problem()); ok {
		return p.ArrowheadShape()
	}
	return ArrowheadShape{}, false
}

// AssembleHessian computes the derivatives at x of a problem that has an arrowhead;
// see [ArrowheadHessian]. It counts as one evaluation. Costs that are not finite
// are treated as by Evaluate.
func AssembleHessian(e *framework.Evaluator, a *Arrowhead, x framework.Point) (float64, error) {
	p, _ := framework.As[ArrowheadHessian](e.Problem())
	return assemble(e, a, "second derivatives", func() (cost, passes float64, err error) { return p.AssembleHessian(a, x) })
}

// assemble counts a call that computes a cost and its derivatives, and judges both.
func assemble(e *framework.Evaluator, a *Arrowhead, what string, call func() (cost, passes float64, err error)) (float64, error) {
	cost, err := e.ChargeCost(func() (cost, passes float64, err error) { return named(what, call) })
	if err == nil && !math.IsInf(cost, 0) && !a.Finite() {
		err = fmt.Errorf("%w: the %s have NaN or Inf at a point of finite cost", framework.ErrNonFinite, what)
	}
	return cost, err
}

// named puts the name of a call before its error.
func named(what string, call func() (cost, passes float64, err error)) (cost, passes float64, err error) {
	if cost, passes, err = call(); err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return cost, passes, err
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
	return e.ChargeCost(func() (cost, passes float64, err error) {
		return named("inner rows", func() (cost, passes float64, err error) { return p.InnerStep(x, other) })
	})
}
