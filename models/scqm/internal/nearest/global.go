package nearest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Around a stationary point tau of the squared distance h, with e = z(tau) - y,
// B = sum_k e_k A_k the forms weighed by the residual, N = 2 (A_k tau)_k and
// q(t) = Theta' phi(t), for every t of R^d
//
//	h(tau + t) = h(tau) + t'(I + 2B)t + |Nt + q(t)|^2.
//
// Thus tau is a nearest point where I + 2B has no negative eigenvalue, and another
// point on the line tau + ru is nearer, for a direction u and some r, if and only if
//
//	P(u) = |q(u)|^2 u'Hu - (Nu . q(u))^2 < 0,   H = I + 2B + N'N,
//
// as r^2 (u'Hu + 2r Nu.q(u) + r^2 |q(u)|^2) has then, and only then, negative
// values. For d = 2, P is a form of degree 6 in two variables: [sextic] finds
// where it is negative, or that it is nowhere. For s = 1 and any d the
// eigenvectors u of I + 2B of negative eigenvalues are such directions, for there
// |Nu + r q(u)| vanishes for some r. Descending from every
// stationary point along such a line ends at the nearest point, as each next
// minimum is lower and a quartic has few.

const (
	// maxDescents bounds the moves from one minimum to a lower one. A quartic in the plane has at most 5 minima.
	maxDescents = 12
	// tie is the relative difference of distances below which two points count as equally near.
	tie = 1e-12
	// convexSlack is the rounding error of an eigenvalue of I + 2B in units of its largest entry.
	convexSlack = 0x1p-46
)

// descend moves from a stationary point, where h equals value, to lower ones until none is found.
func (p *Projection) descend(tau []float64, value float64) {
	for range maxDescents {
		p.Value(tau)
		if p.certified() || !p.leave(tau, value) {
			return
		}
		next := p.Minimize(p.lower, maxSteps, precision)
		if !(next < value) {
			return
		}
		copy(tau, p.lower)
		value = next
	}
}

// certified reports whether I + 2B, or S + 2B in the metric of a loss, has no negative eigenvalue at the last
// argument of Value. It leaves the matrix in bent.
func (p *Projection) certified() bool {
	f, d, size := p.f, p.f.Latent, 0.0
	clear(p.bent)
	for i := range d {
		p.bent[i*d+i] = 1
	}
	if p.metric != nil {
		copy(p.bent, p.metric.schur)
	}
	f.WeighForms(p.w, p.me[d:])
	f.AddCurvature(p.bent, p.w)
	for _, v := range p.bent {
		size = max(size, math.Abs(v))
	}
	copy(p.eigen.A, p.bent)
	for i := range d {
		p.eigen.A[i*d+i] += convexSlack * size
	}
	return dense.FactorCholesky(p.eigen.A, d, 0, 0)
}

// leave writes a point lower than tau into lower. tau is a stationary point with value h, at which certified was
// called last. It returns false if it finds none.
func (p *Projection) leave(tau []float64, value float64) bool {
	d := len(tau)
	if d == 2 {
		p.derivatives(tau)
		theta := p.f.Theta
		if p.metric != nil {
			theta = p.metric.weighed
		}
		p.sextic.load(p.f, theta, p.h, p.bent, tau)
		if p.metric != nil {
			p.metric.addCross(&p.sextic.cross, p.f)
		}
		return p.sextic.search(func(u, v float64) bool {
			p.along[0], p.along[1] = u, v
			return p.lowerAlong(tau, value)
		})
	}
	copy(p.eigen.A, p.bent)
	p.eigen.FactorizeOrIdentity()
	for j := 0; j < d && p.eigen.Values[j] < 0; j++ {
		for i := range d {
			p.along[i] = p.eigen.A[i*d+j]
		}
		if p.lowerAlong(tau, value) {
			return true
		}
	}
	return false
}

// lowerAlong writes the minimum on the line through tau along a direction into lower, if it is below value by more
// than a tie. Without this margin an equal point by symmetry would end the search. On the line h is, with r,
//
//	h(tau) + 2r g.u + r^2 (u'Hu + 2r Nu.q(u) + r^2 |q(u)|^2).
func (p *Projection) lowerAlong(tau []float64, value float64) bool {
	var roots [3]float64
	best, found := 0.0, false
	value -= tie * math.Abs(value)
	for _, r := range roots[:p.lineRoots(&roots, tau)] {
		floats.AddScaledTo(p.start, tau, r, p.along)
		if next := p.Value(p.start); next < value {
			value, best, found = next, r, true
		}
	}
	if found {
		floats.AddScaledTo(p.lower, tau, best, p.along)
	}
	return found
}
