package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	// innerReduction is the largest ratio of the final residual of the inner solver to the gradient,
	// leastReduction the smallest with differences of gradients, and innerOrder the order of convergence.
	innerReduction, leastReduction, innerOrder = 0.1, 1e-2, 1.5
)

// steihaug is the truncated conjugate gradient method of Steihaug and Toint for the
// model of [TrustRegion]. Lengths are those of the preconditioner, and follow from
// the recurrence of the method.
type steihaug struct {
	// step is the minimiser found, decrease what the model falls by, cost that
	// at the end of the step.
	step     framework.Point
	decrease float64
	cost     float64
	// boundary says that the radius or negative curvature ended the iteration.
	boundary bool

	residual, z, dir, product, work framework.Point
	square, cross, dirSquare        float64 // |step|^2, <step,dir>, |dir|^2
}

func (m *steihaug) allocate(blocks []framework.Block) {
	if m.step != nil {
		return
	}
	for _, p := range []*framework.Point{&m.step, &m.residual, &m.z, &m.dir, &m.product, &m.work} {
		*p = framework.NewPoint(blocks)
	}
}

// length is that of the step.
func (m *steihaug) length() float64 { return math.Sqrt(math.Max(0, m.square)) }

// precondition writes the preconditioned residual into z and returns <residual,z>.
func (m *steihaug) precondition(e *framework.Evaluator, s *TrustRegionState) float64 {
	if !s.Preconditioned {
		m.z.CopyFrom(m.residual)
		return inner(e.Blocks(), s.X, m.residual, m.z)
	}
	e.Precondition(m.z, m.residual)
	for k, b := range e.Blocks() {
		b.Project(m.z[k], s.X[k], m.z[k])
	}
	return inner(e.Blocks(), s.X, m.residual, m.z)
}

// minimise leaves the step of the model at the state within its radius.
func (m *steihaug) minimise(e *framework.Evaluator, s *TrustRegionState, a TrustRegion) error {
	blocks := e.Blocks()
	for k := range m.step {
		clear(m.step[k])
	}
	m.residual.CopyFrom(s.Grad)
	m.square, m.cross, m.decrease, m.boundary = 0, 0, 0, false
	rz := m.precondition(e, s)
	negate(m.dir, m.z)
	m.dirSquare = rz
	first := math.Sqrt(inner(blocks, s.X, s.Grad, s.Grad))
	goal := first * m.reduction(a.GaussNewton || e.HasHessian(), first, s.LastNorm)
	most := a.MaxInner
	if most == 0 {
		most = framework.Product(blocks).Dim()
	}
	for range most {
		if !(rz > 0) {
			return nil // the preconditioner is not positive definite, or the gradient is 0
		}
		if err := m.multiply(e, s, a.GaussNewton); err != nil {
			return err
		}
		if m.advance(blocks, s, rz) {
			return nil
		}
		if math.Sqrt(inner(blocks, s.X, m.residual, m.residual)) <= goal {
			return nil
		}
		next := m.precondition(e, s)
		m.turn(next/rz, next)
		rz = next
	}
	return nil
}

// multiply writes the product of dir with the Hessian, or that of the Gauss-Newton
// model.
func (m *steihaug) multiply(e *framework.Evaluator, s *TrustRegionState, gaussNewton bool) error {
	if gaussNewton {
		return e.GaussNewton(m.product, s.X, m.dir)
	}
	return e.Hessian(m.product, s.X, s.Euclidean, m.dir)
}

// reduction is the ratio to which the residual is reduced, for the gradient norms now and before the last step,
// 0 if none; exact says that products are not finite differences.
func (m *steihaug) reduction(exact bool, norm, last float64) float64 {
	if !(last > 0) {
		return innerReduction
	}
	least := 0.
	if !exact {
		least = leastReduction
	}
	return math.Max(least, math.Min(math.Pow(norm/last, innerOrder), innerReduction))
}

// advance moves along dir, whose product with the Hessian is known, and reports
// whether that ended at the boundary.
func (m *steihaug) advance(blocks []framework.Block, s *TrustRegionState, rz float64) bool {
	curvature := inner(blocks, s.X, m.dir, m.product)
	slope := inner(blocks, s.X, m.dir, m.residual)
	alpha := rz / curvature
	square := m.square + alpha*(2*m.cross+alpha*m.dirSquare)
	if !(curvature > 0) || !(square < s.Radius*s.Radius) {
		room := math.Max(0, s.Radius*s.Radius-m.square)
		root := math.Sqrt(m.cross*m.cross + m.dirSquare*room)
		alpha = room / (m.cross + root)
		if m.cross < 0 {
			alpha = (root - m.cross) / m.dirSquare
		}
		square, m.boundary = s.Radius*s.Radius, true
	}
	m.decrease -= alpha * (slope + alpha*curvature/2)
	addScaled(m.step, alpha, m.dir)
	m.cross += alpha * m.dirSquare
	m.square = square
	if m.boundary {
		return true
	}
	addScaled(m.residual, alpha, m.product)
	for k, b := range blocks {
		b.Project(m.residual[k], s.X[k], m.residual[k])
	}
	return false
}

// turn makes the next direction conjugate to the last one; rz is <residual,z>.
func (m *steihaug) turn(beta, rz float64) {
	for k := range m.dir {
		floats.Scale(beta, m.dir[k])
	}
	addScaled(m.dir, -1, m.z)
	// <step, z> = 0 in the norm of the preconditioner for all steps before.
	m.cross *= beta
	m.dirSquare = rz + beta*beta*m.dirSquare
}
