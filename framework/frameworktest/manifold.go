package frameworktest

import (
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
)

// TestManifold fails t for every law that [CheckManifold] finds broken.
func TestManifold(t TB, name string, m framework.Manifold, seed uint64, points ...[]float64) {
	t.Helper()
	CheckManifold(name, m, seed, points...).test(t)
}

// CheckManifold tests the laws of [framework.Manifold], and of every optional interface that m implements, on random
// vectors. It uses the given points and, if m is a [framework.Rander], random points; other manifolds need at least
// one point. Laws that presuppose broken ones are not tested.
//
// On a quotient, points are compared by their Distance and vectors by their horizontal parts. The laws of the Hessian
// report "not checked" there.
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
//   - second order: for retractions that claim it, the covariant acceleration of
//     Retract(x, tv) at t = 0 is 0.
//   - retraction of non-finite steps: steps with NaN or Inf give an error.
//   - exponential: Exp(x, tv) - Retract(x, tv) has slope 2, or the claimed
//     order plus 1.
//   - exponential on manifold, exponential of non-finite steps: as for Retract.
//   - geodesic: the covariant acceleration of Exp(x, tv) at t = 0 is 0, and half of a
//     geodesic followed by its other half ends where it does.
//   - distance: Distance is symmetric, 0 from x to x, obeys the triangle inequality
//     and fails for NaN.
//   - distance of steps: Exp(x, v) is |v| away from x; without Exp, Retract(x, v) for
//     small v.
//   - logarithm: Log(x, Exp(x, v)) = v, as long as the distance; it fails for NaN.
//   - transport tangent, linear, at rest: Transport gives tangent vectors at y,
//     is linear, and is the identity for y = x.
//   - transport length: over a way of 0.25 lengths change by less than a factor of 2,
//     and vectors turn by less than 90 degrees.
//   - metric: Inner is symmetric, bilinear and positive.
//   - gradient: Gradient(x, g) is tangent and Inner(Gradient(x, g), v) = g'v.
//   - hessian symmetric: RiemannianHessian is tangent and symmetric.
//   - hessian: it is the second derivative of the cost along Retract, less the part
//     of its acceleration.
//   - representatives: for a quotient, Same depends on its generator only
//     and stays in the class, at a distance of 0.
//   - representatives agree: horizontal vectors, inner products and retractions do
//     not depend on the representative.
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

func (c *manifoldCheck) checkRest() {
	c.checkRetraction()
	c.checkExp()
	c.checkQuotient()
	c.checkDistance()
	c.checkTransport()
	c.checkMetric()
	c.checkHessian()
	c.checkRestore()
	c.checkConventions()
}
