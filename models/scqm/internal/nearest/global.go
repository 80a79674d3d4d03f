package nearest

import (
	"math"

	"gonum.org/v1/gonum/floats"
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
	// maxDescents bounds the descents from one minimum to a lower one. A quartic in the plane has at most 5
	// minima.
	maxDescents = 12
	// maxCreeps bounds the restarts of Newton's method while its last step is longer than settledTau, relative to
	// tau.
	maxCreeps  = 30
	settledTau = 1e-7
	// tie is the relative difference of distances below which two points are equally near.
	tie = 1e-12
	// convexSlack is the rounding of an eigenvalue of I + 2B in units of its
	// largest entry.
	convexSlack = 0x1p-46
)

// nearest searches the nearest point to x and writes it into minima[0]. It is exact for d <= 2 and for s <= 1;
// otherwise it is the best of several starts, improved along the eigenvectors of I + 2B.
func (p *Projection) nearest(x []float64) {
	p.load(x)
	p.search()
}

// search is nearest for the row loaded last.
func (p *Projection) search() {
	copy(p.minima[0], p.Y)
	if p.f.S > 0 {
		p.searchGlobal()
	}
}

// searchGlobal moves minima[0] to the nearest point.
func (p *Projection) searchGlobal() {
	at := p.minima[0]
	value := p.settle(at)
	if p.certified(at) {
		return
	}
	if p.f.Latent > 2 && p.f.S > 1 {
		value = p.searchLowest(value)
	}
	p.descend(at, value)
}

// searchLowest moves minima[0], where h is value, to the lowest minimum reached from the starts, and returns h
// there. Runs that are not lower after a few digits are stopped.
func (p *Projection) searchLowest(value float64) float64 {
	p.eachStart(func(start []float64) {
		end := p.minima[1]
		copy(end, start)
		if p.Minimize(end, maxSteps, fewDigits) < value-tie*math.Abs(value) {
			if next := p.Minimize(end, maxSteps, precision); next < value {
				value = next
				copy(p.minima[0], end)
			}
		}
	})
	return value
}

// descend moves from a stationary point, where h is value, to lower ones until none is found.
func (p *Projection) descend(tau []float64, value float64) {
	for range maxDescents {
		p.Value(tau)
		if p.certified(tau) || !p.leave(tau, value) {
			return
		}
		next := p.settle(p.lower)
		if !(next < value) {
			return
		}
		copy(tau, p.lower)
		value = next
	}
}

// settle moves to a stationary point, in place, and returns h there. Where Newton's method is slow along a
// curved valley, it restarts at the minimum on the line along the last step.
func (p *Projection) settle(tau []float64) float64 {
	value := p.Minimize(tau, maxSteps, precision)
	for range maxCreeps {
		if floats.Norm(p.step, 2) <= settledTau*floats.Norm(tau, 2) {
			break
		}
		copy(p.along, p.step)
		if p.lowerAlong(tau, value) {
			copy(tau, p.lower)
		}
		next := p.Minimize(tau, maxSteps, precision)
		if !(next < value) {
			break
		}
		value = next
	}
	return value
}

// certified reports whether I + 2B has no negative eigenvalue at tau, where Value
// was called last. For d > 2 the eigenvectors are left in eigen.
func (p *Projection) certified(tau []float64) bool {
	f := p.f
	f.WeighForms(p.w, p.me[f.Latent:])
	switch len(tau) {
	case 1:
		return p.flatForm(0, 0)+2*p.w[0] >= 0
	case 2:
		a, b, c := p.flatForm(0, 0)+2*p.w[0], p.flatForm(0, 1)+p.w[1], p.flatForm(1, 1)+2*p.w[2]
		size := max(math.Abs(a), math.Abs(b), math.Abs(c))
		return a+c >= 0 && a*c-b*b >= -convexSlack*size*size && min(a, c) >= -convexSlack*size
	}
	clear(p.eigen.A)
	for i := range tau {
		for j := range tau {
			p.eigen.A[i*len(tau)+j] = p.flatForm(i, j)
		}
	}
	f.AddCurvature(p.eigen.A, p.w)
	p.eigen.FactorizeOrIdentity()
	n := len(p.eigen.Values)
	return p.eigen.Values[0] >= -convexSlack*max(p.flatForm(0, 0), math.Abs(p.eigen.Values[n-1]))
}

// flatForm is an entry of I, or of S in the metric of a loss.
func (p *Projection) flatForm(i, j int) float64 {
	if p.metric != nil {
		return p.metric.schur[i*p.f.Latent+j]
	}
	if i == j {
		return 1
	}
	return 0
}

// leave writes a point lower than tau, a stationary point with value h for which certified was called last,
// into lower. It reports false where it finds none.
func (p *Projection) leave(tau []float64, value float64) bool {
	switch d := len(tau); d {
	case 1:
		p.along[0] = 1
		return p.lowerAlong(tau, value)
	case 2:
		p.derivatives(tau)
		theta := p.f.Theta
		if p.metric != nil {
			theta = p.metric.weighed
		}
		p.sextic.load(p.f, theta, p.h, tau, p.w)
		if p.metric != nil {
			p.metric.addCross(&p.sextic.cross, p.f)
			p.sextic.part = [3]float64{p.flatForm(0, 0) + 2*p.w[0], 2 * (p.flatForm(0, 1) + p.w[1]), p.flatForm(1, 1) + 2*p.w[2]}
		}
		return p.sextic.search(func(u, v float64) bool {
			p.along[0], p.along[1] = u, v
			return p.lowerAlong(tau, value)
		})
	default:
		for j := range d {
			if p.eigen.Values[j] >= 0 {
				return false
			}
			for i := range d {
				p.along[i] = p.eigen.A[i*d+j]
			}
			if p.lowerAlong(tau, value) {
				return true
			}
		}
		return false
	}
}

// lowerAlong writes the minimum on the line through tau along a direction into lower, where it is below value
// by more than a tie: otherwise an equal point by symmetry would end the search. On the line h is, with r,
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
