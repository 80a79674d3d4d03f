package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	// innerReduction is the largest ratio of the final residual of the inner solver to the gradient, and innerOrder
	// the order of convergence.
	innerReduction, innerOrder = 0.2, 1.5
)

// truncated is the truncated conjugate gradient method of Steihaug and Toint: it minimises
//
//	m(eta) = <g,eta> + 1/2 <eta, Hess F eta>,  |eta|_M <= radius,
//
// on the tangent space. M is the inverse of the preconditioner; lengths follow from the recurrence of the method.
// It ends at the radius, where the curvature is not positive, and at a residual of
//
//	|g| min((|g| / |g_|)^(3/2), 1/5),
//
// with g_ the gradient before the last step, so that convergence is of order 3/2 and no step is solved for beyond
// what the next can keep (the second choice of Eisenstat and Walker).
type truncated struct {
	// decrease is what the model falls by. boundary says that the radius or the curvature ended the iteration,
	// negative that it was the curvature.
	decrease           float64
	boundary, negative bool

	residual, z, dir, product       framework.Point
	square, cross, dirSquare, limit float64 // |step|^2, <step,dir>, |dir|^2, radius^2
}

// subproblem says what to minimise: products with the Hessian and a preconditioner, the most products, the radius,
// +Inf for none, and the norm of the gradient before the last step, 0 if there was none.
type subproblem struct {
	multiply     func(dst, v framework.Point) error
	precondition func(dst, v framework.Point)
	most         int
	radius, last float64
}

func (m *truncated) allocate(blocks []framework.Block) {
	if m.z != nil {
		return
	}
	for _, p := range []*framework.Point{&m.residual, &m.z, &m.dir, &m.product} {
		*p = framework.NewPoint(blocks)
	}
}

// length is that of the step.
func (m *truncated) length() float64 { return math.Sqrt(math.Max(0, m.square)) }

// minimise writes the step from x, where the gradient is g.
func (m *truncated) minimise(blocks framework.Product, step, x, g framework.Point, o subproblem) error {
	m.allocate(blocks)
	step.Zero()
	m.residual.CopyFrom(g)
	m.square, m.cross, m.decrease, m.boundary, m.negative, m.limit = 0, 0, 0, false, false, o.radius*o.radius
	o.precondition(m.z, m.residual)
	rz := inner(blocks, x, m.residual, m.z)
	negate(m.dir, m.z)
	m.dirSquare = rz
	norm := math.Sqrt(inner(blocks, x, g, g))
	goal := norm * o.reduction(norm)
	for range o.most {
		if !(rz > 0) {
			return nil // the preconditioner is not positive definite, or the gradient is 0
		}
		if err := o.multiply(m.product, m.dir); err != nil {
			return err
		}
		if m.advance(blocks, step, x, rz) {
			return nil
		}
		if math.Sqrt(inner(blocks, x, m.residual, m.residual)) <= goal {
			return nil
		}
		o.precondition(m.z, m.residual)
		next := inner(blocks, x, m.residual, m.z)
		m.turn(next/rz, next)
		rz = next
	}
	return nil
}

// reduction is the ratio to which the residual is reduced, for the norm of the gradient.
func (o *subproblem) reduction(norm float64) float64 {
	if !(o.last > 0) {
		return innerReduction
	}
	return math.Min(math.Pow(norm/o.last, innerOrder), innerReduction)
}

// advance moves along dir, whose product with the Hessian is known, and reports
// whether that ended at the boundary. A first direction of negative curvature without a radius is the step itself.
func (m *truncated) advance(blocks framework.Product, step, x framework.Point, rz float64) bool {
	curvature := inner(blocks, x, m.dir, m.product)
	slope := inner(blocks, x, m.dir, m.residual)
	alpha := rz / curvature
	square := m.square + alpha*(2*m.cross+alpha*m.dirSquare)
	m.negative = !(curvature > 0)
	if m.boundary = m.negative || !(square < m.limit); m.boundary {
		alpha, square = m.toBoundary(), m.limit
	}
	m.decrease -= alpha * (slope + alpha*curvature/2)
	addScaled(step, alpha, m.dir)
	m.cross += alpha * m.dirSquare
	m.square = square
	if m.boundary {
		return true
	}
	addScaled(m.residual, alpha, m.product)
	blocks.Project(m.residual, x, m.residual)
	return false
}

// toBoundary is the distance along dir to the radius, in units of dir.
func (m *truncated) toBoundary() float64 {
	switch {
	case !math.IsInf(m.limit, 1):
	case m.square == 0:
		return 1
	default:
		return 0
	}
	room := math.Max(0, m.limit-m.square)
	root := math.Sqrt(m.cross*m.cross + m.dirSquare*room)
	if m.cross < 0 {
		return (root - m.cross) / m.dirSquare
	}
	return room / (m.cross + root)
}

// turn makes the next direction conjugate to the last one; rz is <residual,z>.
func (m *truncated) turn(beta, rz float64) {
	for k := range m.dir {
		floats.Scale(beta, m.dir[k])
	}
	addScaled(m.dir, -1, m.z)
	// cross has no term with z: <step, Mz> = <step, residual> = 0, as the residual is orthogonal to earlier directions.
	m.cross *= beta
	m.dirSquare = rz + beta*beta*m.dirSquare
}
