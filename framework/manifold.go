package framework

import "math/rand/v2"

// Manifold is a smooth submanifold of R^Size with the inherited metric (see [Metric] for others), or a quotient of
// one: a set of classes of its points. Points and tangent vectors are flat slices of length Size; matrices are
// row-major.
type Manifold interface {
	// Size is the number of coordinates of a point.
	Size() int
	// Dim is the dimension of the manifold, at most Size.
	Dim() int
	// Project writes into dst the orthogonal projection of v onto the tangent space at x.
	Project(dst, x, v []float64)
	// Retract writes into dst the point reached from x along the tangent
	// vector v. For small t, Retract(x, t v) = x + t v + O(t^2). On error dst
	// is undefined.
	Retract(dst, x, v []float64) error
}

// Transporter moves tangent vectors between points. For a manifold without it, projection onto the tangent space at y
// serves as the transport.
type Transporter interface {
	// Transport writes into dst the tangent vector at y that corresponds to
	// the tangent vector v at x.
	Transport(dst, x, y, v []float64)
}

// Rander draws random points.
type Rander interface {
	Rand(dst []float64, rng *rand.Rand)
}

// Exper computes the exponential map, the exact geodesic.
type Exper interface {
	Exp(dst, x, v []float64) error
}

// Logarithm inverts the exponential map. It writes into dst the tangent vector at x along which a shortest geodesic
// reaches y.
type Logarithm interface {
	Log(dst, x, y []float64) error
}

// Distance is offered by a manifold that can compute the length of the shortest geodesic between two points.
type Distance interface {
	// Distance fails if x or y is not a point of the manifold.
	Distance(x, y []float64) (float64, error)
}

// Metric is offered by a manifold whose inner product is not that of the surrounding space.
type Metric interface {
	// Inner is the inner product of the tangent vectors u and v at x.
	Inner(x, u, v []float64) float64
	// Gradient converts the Euclidean gradient g of a function into its
	// Riemannian gradient at x.
	Gradient(dst, x, g []float64)
}

// HessianConverter turns Euclidean second derivatives into Riemannian ones:
// dst = Hess f(x)[v] from the Euclidean gradient g and the Euclidean
// Hessian-vector product h = D^2 f(x) v.
type HessianConverter interface {
	RiemannianHessian(dst, x, g, h, v []float64)
}

// Constrained is offered by manifolds whose points can leave their constraints through rounding, or can be given off
// them.
type Constrained interface {
	// Violation measures how far x is from the manifold. It is 0 on the manifold and has the unit of the constraint;
	// for Stiefel it is the largest entry of |X'X - I|.
	Violation(x []float64) float64
	// Restore moves x to the nearest point of the manifold, or to one about as near.
	Restore(x []float64) error
}
