package nearest

import (
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

//go:generate sh -c "go run ../../../../internal/dense/assembly forms > feet_amd64.s"

// Feet projects rows on a sheet of any latent dimension by the Newton steps of [Quadratic.Minimize], eight rows
// at a time. With the Jacobian N_k = 2 A_k tau of entry k of Theta' phi, and e = Theta' phi - b,
//
//	Theta' phi = N tau / 2,  g = tau - a + N'e,  H = I + N'N + sum_k e_k 2 A_k
//
// are half of gradient and Hessian, so that only the products of the forms with tau are needed. A step takes
// 3sd^2 + d^3/3 operations for a row. Kernels return the bits of plain Go.
type Feet struct {
	f       *sheet.Sheet
	arrival Arrival
	bends   []float64 // s x d x d: 2 A_k

	// Of eight rows, one vector after the other.
	tau, trial, step []float64      // d
	gradient         []float64      // d
	inverses         []float64      // d: of the pivots of h
	h                []float64      // d x d
	images           []float64      // s x d: N
	e                []float64      // s
	value, next      [lanes]float64 // of h
	trace            [lanes]float64 // of h
	wide             bool           // kernels are used
}

const (
	// lanes is the number of rows in a vector.
	lanes = 8
	// mostImages bounds the entries of N, which must fit the second-level cache.
	mostImages = 1 << 16
)

// Refused stands for the squared residual of a row that [Feet] did not project.
const Refused = -1.0

// HasFeet reports whether Feet can project on a sheet.
func HasFeet(f *sheet.Sheet) bool { return f.S > 0 && lanes*f.S*f.Latent <= mostImages }

// Rows rounds a number of rows up to a multiple of eight, which [Feet] may read.
func Rows(n int) int { return (n + lanes - 1) / lanes * lanes }

// NewFeet prepares for the current sheet.
func NewFeet(f *sheet.Sheet, at Arrival) *Feet {
	vec := func(n int) []float64 { return make([]float64, lanes*n) }
	d, s := f.Latent, f.S
	k := &Feet{
		f: f, arrival: at, bends: make([]float64, s*d*d), tau: vec(d), trial: vec(d), step: vec(d),
		gradient: vec(d), inverses: vec(d), h: vec(d * d), images: vec(s * d), e: vec(s),
	}
	k.wide = dense.HasAVX2()
	k.Reload()
	return k
}

// Reload must be called after a change of Theta.
func (k *Feet) Reload() {
	d, s := k.f.Latent, k.f.S
	for c := range s {
		to, a := k.bends[c*d*d:(c+1)*d*d], 0
		for i := range d {
			to[i*d+i] = 2 * k.f.Theta[a*s+c]
			a++
			for j := i + 1; j < d; j++ {
				v := k.f.Theta[a*s+c]
				to[i*d+j], to[j*d+i] = v, v
				a++
			}
		}
	}
}

// Move improves tau, n x d, by so many steps at most, given pulled = Q'(x - c), m x stride, one axis after the
// other, and whole = |x - c|^2. It writes squared residuals into u, and Refused where h is not convex at an
// iterate, or a full step does not lower it. Squared residuals much smaller than whole lose many digits. pulled
// has memory for [Rows] of n in every axis.
func (k *Feet) Move(u, tau, pulled []float64, stride int, whole []float64, n, steps int) {
	k.each(tau, pulled, stride, n, func(from, count int, pulled []float64) {
		good := k.newton(pulled, stride, count, steps)
		k.keep(tau, from, count)
		k.residuals(u[from:from+count], whole[from:], pulled, stride, &good)
	})
}

// Find projects as [Footpoint.Find] does, and refuses rows that need more steps. The arguments are those of
// Move.
func (k *Feet) Find(u, tau, pulled []float64, stride int, whole []float64, n int) {
	d := k.f.Latent
	for i := range n {
		for j := range d {
			tau[i*d+j] = pulled[j*stride+i]
		}
	}
	k.each(tau, pulled, stride, n, func(from, count int, pulled []float64) {
		good := k.newton(pulled, stride, count, pureSteps)
		k.keep(tau, from, count)
		k.curvature(1)
		for l := range count {
			square := k.pulledSquare(pulled, stride, l)
			good[l] = good[l] && k.positive(l) && k.slope(l) <= float64(k.arrival.Gradient*k.arrival.Gradient*square)
		}
		k.residuals(u[from:from+count], whole[from:], pulled, stride, &good)
	})
}

// Certify reports for n rows whether tau is certified as the nearest point, as [Certificate.Holds] does.
func (k *Feet) Certify(certain []bool, tau, pulled []float64, stride int, whole []float64, n int, within float64) {
	k.each(tau, pulled, stride, n, func(from, count int, pulled []float64) {
		copy(k.trial, k.tau)
		k.evaluate(pulled, stride)
		k.curvature(1 - leastConvexity)
		for l := range count {
			square := whole[from+l] - k.pulledSquare(pulled, stride, l) + k.next[l]
			certain[from+l] = square > LostDigits*whole[from+l] && k.positive(l) &&
				k.slope(l) <= within*square*leastConvexity
		}
	})
}

// each calls do for up to eight rows at a time, with their tau and their part of pulled.
func (k *Feet) each(tau, pulled []float64, stride, n int, do func(from, count int, pulled []float64)) {
	d := k.f.Latent
	pulled = pulled[:(k.f.M-1)*stride+Rows(n)]
	for from := 0; from < n; from += lanes {
		count := min(lanes, n-from)
		for l := range lanes {
			for j := range d {
				k.tau[j*lanes+l] = 0
				if l < count {
					k.tau[j*lanes+l] = tau[(from+l)*d+j]
				}
			}
		}
		do(from, count, pulled[from:])
	}
}

// keep stores the tau of some rows.
func (k *Feet) keep(tau []float64, from, count int) {
	d := k.f.Latent
	for l := range count {
		for j := range d {
			tau[(from+l)*d+j] = k.tau[j*lanes+l]
		}
	}
}

// residuals writes the squared residuals of the rows that are good, Refused for others.
func (k *Feet) residuals(u, whole, pulled []float64, stride int, good *[lanes]bool) {
	for l := range u {
		if u[l] = Refused; good[l] {
			u[l] = whole[l] - k.pulledSquare(pulled, stride, l) + k.value[l]
		}
	}
}

// pulledSquare is |Q'(x - c)|^2 of a row.
func (k *Feet) pulledSquare(pulled []float64, stride, l int) float64 {
	var sum float64
	for j := range k.f.M {
		sum += float64(pulled[j*stride+l] * pulled[j*stride+l])
	}
	return sum
}

// curvature factorizes diagonal I + 2B, for N and e of the last evaluation, and completes the gradient.
func (k *Feet) curvature(diagonal float64) {
	k.hessian(diagonal, false)
	k.eliminate()
}

// newton steps from tau until all of the first count lanes have converged, and reports which succeeded.
// Converged lanes stay, so that the values of evaluate are those at tau.
func (k *Feet) newton(pulled []float64, stride, count, steps int) (good [lanes]bool) {
	copy(k.trial, k.tau)
	k.evaluate(pulled, stride)
	k.value = k.next
	for l := range count {
		good[l] = true
	}
	live, left := good, count
	for step := 0; step < steps && left > 0; step++ {
		k.hessian(1, true)
		copy(k.step, k.gradient)
		k.eliminate()
		for l := range live {
			if live[l] && !k.positive(l) {
				live[l], good[l] = false, false
			}
		}
		slope, length := k.advance(&live)
		k.evaluate(pulled, stride)
		left = 0
		for l := range live {
			if !live[l] {
				continue
			}
			next, value := k.next[l], k.value[l]
			if !(next <= value-float64(2*Armijo*slope[l]) || next <= value+float64(Rounding*value)) {
				live[l], good[l] = false, false
				continue
			}
			k.value[l] = next
			var square float64
			for j := l; j < len(k.tau); j += lanes {
				k.tau[j] = k.trial[j]
				square += float64(k.trial[j] * k.trial[j])
			}
			if live[l] = !(length[l] <= float64(k.arrival.Step*k.arrival.Step*square)); live[l] {
				left++
			}
		}
	}
	return good
}

// advance writes the end of the step into trial, for the live lanes, and returns the product of the step with
// the gradient, and its squared length.
func (k *Feet) advance(live *[lanes]bool) (slope, length [lanes]float64) {
	for j := 0; j < len(k.tau); j += lanes {
		tau, trial := (*[lanes]float64)(k.tau[j:]), (*[lanes]float64)(k.trial[j:])
		step, g := (*[lanes]float64)(k.step[j:]), (*[lanes]float64)(k.gradient[j:])
		for l, v := range step {
			slope[l] += float64(v * g[l])
			length[l] += float64(v * v)
			if trial[l] = tau[l]; live[l] {
				trial[l] -= v
			}
		}
	}
	return slope, length
}

// evaluate writes h at trial into next, leaves N and e behind, and trial - a in gradient.
func (k *Feet) evaluate(pulled []float64, stride int) {
	d, s := k.f.Latent, k.f.S
	k.next = [lanes]float64{}
	for j := range d {
		trial, g := (*[lanes]float64)(k.trial[j*lanes:]), (*[lanes]float64)(k.gradient[j*lanes:])
		for l, v := range (*[lanes]float64)(pulled[j*stride:]) {
			v = trial[l] - v
			g[l] = v
			k.next[l] += float64(v * v)
		}
	}
	b := pulled[d*stride:][:(s-1)*stride+lanes]
	if !k.wide {
		k.plainImages(b, stride)
		return
	}
	for l := 0; l < lanes; l += lanes / 2 {
		formImages(&k.images[l], &k.e[l], &k.next[l], &k.bends[0], &k.trial[l], &b[l], 8*stride, d, s)
	}
}

// plainImages is the kernel in plain Go. Here and below conversions prevent fused multiply-adds.
func (k *Feet) plainImages(b []float64, stride int) {
	d := k.f.Latent
	for c := range k.f.S {
		var z [lanes]float64
		for i := range d {
			var n [lanes]float64
			for j := range d {
				bend, trial := k.bends[(c*d+j)*d+i], (*[lanes]float64)(k.trial[j*lanes:])
				for l, v := range trial {
					n[l] += float64(bend * v)
				}
			}
			for l, v := range (*[lanes]float64)(k.trial[i*lanes:]) {
				z[l] += float64(v * n[l])
			}
			copy(k.images[(c*d+i)*lanes:], n[:])
		}
		for l, v := range (*[lanes]float64)(b[c*stride:]) {
			e := float64(z[l]/2) - v
			k.e[c*lanes+l] = e
			k.next[l] += float64(e * e)
		}
	}
}

// hessian adds N'e to gradient, and writes diagonal I + sum_k e_k 2 A_k, and N'N more where asked,
// into what h has on and below its diagonal.
func (k *Feet) hessian(diagonal float64, gram bool) {
	d, s := k.f.Latent, k.f.S
	clear(k.h)
	for i := range d {
		for l := range (*[lanes]float64)(k.h[i*(d+1)*lanes:]) {
			k.h[i*(d+1)*lanes+l] = diagonal
		}
	}
	if !k.wide {
		k.plainHessian(gram)
		return
	}
	for l := 0; l < lanes; l += lanes / 2 {
		formDerivatives(&k.h[l], &k.gradient[l], &k.images[l], &k.e[l], &k.bends[0], d, s, gram)
	}
}

// plainHessian is the kernel in plain Go.
func (k *Feet) plainHessian(gram bool) {
	d := k.f.Latent
	for c := range k.f.S {
		e := (*[lanes]float64)(k.e[c*lanes:])
		for i := range d {
			own, g := (*[lanes]float64)(k.images[(c*d+i)*lanes:]), (*[lanes]float64)(k.gradient[i*lanes:])
			for l, v := range own {
				g[l] += float64(v * e[l])
			}
			for j := range i + 1 {
				h, bend := (*[lanes]float64)(k.h[(i*d+j)*lanes:]), k.bends[(c*d+i)*d+j]
				other := (*[lanes]float64)(k.images[(c*d+j)*lanes:])
				for l, v := range e {
					h[l] += float64(bend * v)
					if gram {
						h[l] += float64(other[l] * own[l])
					}
				}
			}
		}
	}
}

// eliminate solves h x = step for x, in place, by H = LDL' without pivoting. Pivots are left on the
// diagonal of h.
func (k *Feet) eliminate() {
	d := k.f.Latent
	k.trace = [lanes]float64{}
	for i := range d {
		for l, v := range (*[lanes]float64)(k.h[i*(d+1)*lanes:]) {
			k.trace[l] += v
		}
	}
	if !k.wide {
		k.plainEliminate()
		return
	}
	for l := 0; l < lanes; l += lanes / 2 {
		formEliminate(&k.h[l], &k.step[l], &k.inverses[l], d)
	}
}

// plainEliminate is the kernel in plain Go: it leaves LD below the diagonal of h, L' above it, and the inverse
// pivots in inverses.
func (k *Feet) plainEliminate() {
	d, h, x := k.f.Latent, k.h, k.step
	for l := range lanes {
		at := func(i, j int) *float64 { return &h[(i*d+j)*lanes+l] }
		for j := range d {
			var inverse float64
			for i := j; i < d; i++ {
				v := *at(i, j)
				for c := range j {
					v -= float64(*at(i, c) * *at(c, j))
				}
				*at(i, j) = v
				if i == j {
					inverse = 1 / v
					k.inverses[j*lanes+l] = inverse
				} else {
					*at(j, i) = v * inverse
				}
			}
		}
		for i := range d {
			for c := range i {
				x[i*lanes+l] -= float64(*at(c, i) * x[c*lanes+l])
			}
		}
		for i := d - 1; i >= 0; i-- {
			v := float64(x[i*lanes+l] * k.inverses[i*lanes+l])
			for c := i + 1; c < d; c++ {
				v -= float64(*at(i, c) * x[c*lanes+l])
			}
			x[i*lanes+l] = v
		}
	}
}

// positive reports whether all pivots of a lane are safely positive.
func (k *Feet) positive(l int) bool {
	d, least := k.f.Latent, dense.Flat*k.trace[l]
	for i := range d {
		if !(k.h[i*(d+1)*lanes+l] > least) {
			return false
		}
	}
	return true
}

// slope is the squared length of the gradient in a lane.
func (k *Feet) slope(l int) float64 {
	var sum float64
	for j := l; j < len(k.gradient); j += lanes {
		sum += float64(k.gradient[j] * k.gradient[j])
	}
	return sum
}
