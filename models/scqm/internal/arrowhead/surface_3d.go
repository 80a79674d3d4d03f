package arrowhead

import (
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Surfaces in space, D = 3, d = 2, s = 1, are what local fits to point clouds
// are made of. Their kernels are the formulas of Hessian and
// [quadraticInner] written out: with x, y the entries of tau, (t0, t1, t2) = Theta and
//
//	z = (x, y, t0 xx + t1 xy + t2 yy),   dz_2/dtau = (a, b) = (2 t0 x + t1 y, t1 x + 2 t2 y).

// isSurface3D reports whether the kernels of surfaces apply.
func isSurface3D(f *sheet.Sheet) bool { return f.D == 3 && f.Latent == 2 && f.S == 1 }

// sums3D are the sums over the rows of a batch.
type sums3D struct {
	gh [3][7]float64
	hh [7][7]float64 // upper triangle
}

// surface adds the rows from to to of a surface, whose losses are known, and
// writes their inner derivatives.
func (job *assembleShard) surface(a *Hessian, w *worker, s *sums, from, to int) {
	var sums sums3D
	t0, t1, t2 := a.F.Theta[0], a.F.Theta[1], a.F.Theta[2]
	data := a.o.Data()
	for i := from; i < to; i++ {
		k := i - from
		weight := data.Weight(i)
		if weight > 0 {
			s.cost += weight * w.value[k]
		}
		tau, h := job.tau[2*i:2*i+2:2*i+2], (*[7]float64)(w.h[7*k:])
		row := row3D{x: tau[0], y: tau[1], z: h[3]}
		row.a, row.b = 2*t0*row.x+t1*row.y, t1*row.x+2*t2*row.y
		factor := weight
		switch a.structure {
		case rowloss.StructureRadial:
			e, second := w.e[3*k:3*k+3:3*k+3], 4*weight*w.two[k]
			factor *= 2 * w.one[k]
			row.e = [3]float64{e[0], e[1], e[2]}
			row.g = [3]float64{factor * e[0], factor * e[1], factor * e[2]}
			row.slopes(factor, second)
			if second != 0 {
				row.outer(w.v[:9:9], h)
				dense.AddOuterProduct(s.a, w.v, second)
			}
		case rowloss.StructureQuadratic:
			row.setProducts(w.g[3*k:3*k+3:3*k+3], (*[9]float64)(a.constant), weight)
		default:
			hess := (*[9]float64)(w.hess[9*k:])
			row.setProducts(w.g[3*k:3*k+3:3*k+3], hess, weight)
			row.addOuter((*[81]float64)(s.a), h, hess, weight)
			addMoments(s.gh, h, &row.g)
		}
		row.inner(job.dst.InnerGrad[2*i:2*i+2:2*i+2], job.dst.C[4*i:4*i+4:4*i+4], t0, t1, t2)
		row.couple(job.dst.B, job.dst.Inner(), 2*i, h)
		if a.structure == rowloss.StructureRadial || a.structure == rowloss.StructureQuadratic {
			sums.add(&row, h, factor)
		}
	}
	sums.addTo(s)
}

// surfaceResiduals is residuals written out for surfaces.
func (job *assembleShard) surfaceResiduals(a *Hessian, w *worker, from, to int) {
	t0, t1, t2 := a.F.Theta[0], a.F.Theta[1], a.F.Theta[2]
	data := a.o.Data()
	for i := from; i < to; i++ {
		coords := a.coords.y[3*i : 3*i+3 : 3*i+3]
		if !job.coordsKnown {
			a.Frame.toFrame(coords, data.Row(i))
		}
		x, y := job.tau[2*i], job.tau[2*i+1]
		xx, xy, yy := x*x, x*y, y*y
		z := t0*xx + t1*xy + t2*yy
		*(*[7]float64)(w.h[7*(i-from):]) = [7]float64{1, x, y, z, xx, xy, yy}
		*(*[3]float64)(w.e[3*(i-from):]) = [3]float64{x - coords[0], y - coords[1], z - coords[2]}
	}
}

// row3D is one row: latent coordinates, residual, loss gradient, and the
// product n of the loss Hessian with the derivative of the residual.
type row3D struct {
	x, y, z, a, b float64
	e, g          [3]float64
	n             [3][2]float64
}

func (r *row3D) slopes(first, second float64) {
	r.n = [3][2]float64{{first, 0}, {0, first}, {first * r.a, first * r.b}}
	if second == 0 {
		return
	}
	u, v := second*(r.e[0]+r.e[2]*r.a), second*(r.e[1]+r.e[2]*r.b)
	for k, e := range r.e {
		r.n[k][0] += e * u
		r.n[k][1] += e * v
	}
}

// setProducts sets the gradient of the loss, and the product of its Hessian with the derivative of the
// residual.
func (r *row3D) setProducts(g []float64, hess *[9]float64, weight float64) {
	r.g = [3]float64{weight * g[0], weight * g[1], weight * g[2]}
	for k := range r.n {
		row := hess[3*k : 3*k+3 : 3*k+3]
		r.n[k] = [2]float64{weight * (row[0] + row[2]*r.a), weight * (row[1] + row[2]*r.b)}
	}
}

// addOuter adds weight J'HJ to the upper triangle of dst, which is 9 x 9. With the columns of J, e0, e1, e2, ye0 -
// xe1, ze0 - xe2, ze1 - ye2 and three multiples of e2, the entries of HJ give those of J'HJ.
func (r *row3D) addOuter(dst *[81]float64, h *[7]float64, hess *[9]float64, weight float64) {
	x, y, z := r.x, r.y, r.z
	var k [3][9]float64 // weight HJ
	for i := range k {
		a, b, c := weight*hess[3*i], weight*hess[3*i+1], weight*hess[3*i+2]
		k[i] = [9]float64{a, b, c, a*y - b*x, a*z - c*x, b*z - c*y, c * h[4], c * h[5], c * h[6]}
	}
	for q := range 9 {
		dst[q] += k[0][q]
	}
	for q := 1; q < 9; q++ {
		dst[9+q] += k[1][q]
	}
	for q := 2; q < 9; q++ {
		dst[18+q] += k[2][q]
	}
	for q := 3; q < 9; q++ {
		u, v, w := k[0][q], k[1][q], k[2][q]
		dst[27+q] += y*u - x*v
		if q > 3 {
			dst[36+q] += z*u - x*w
		}
		if q > 4 {
			dst[45+q] += z*v - y*w
		}
	}
	for q := 6; q < 9; q++ {
		for p := 6; p <= q; p++ {
			dst[9*p+q] += h[p-2] * k[2][q]
		}
	}
}

// addMoments adds features times a gradient to dst, which is 3 x 7.
func addMoments(dst []float64, h *[7]float64, g *[3]float64) {
	for k, v := range g {
		row := (*[7]float64)(dst[7*k:])
		for j, u := range h {
			row[j] += v * u
		}
	}
}

// inner writes gradient and Hessian with respect to tau.
func (r *row3D) inner(grad, c []float64, t0, t1, t2 float64) {
	n, g := &r.n, &r.g
	grad[0], grad[1] = g[0]+r.a*g[2], g[1]+r.b*g[2]
	off := n[0][1] + r.a*n[2][1] + g[2]*t1
	c[0], c[1] = n[0][0]+r.a*n[2][0]+2*g[2]*t0, off
	c[2], c[3] = off, n[1][1]+r.b*n[2][1]+2*g[2]*t2
}

// couple writes B_i into columns at and at+1: for c, the rotations in the planes 01, 02 and 12, and Theta. It
// stores number by number: a pair stored through an array and reloaded as a wider word stalls the processor.
func (r *row3D) couple(dst []float64, stride, at int, h *[7]float64) {
	n, g, x, y, z, a, b := &r.n, &r.g, r.x, r.y, r.z, r.a, r.b
	putPair(dst, at, n[0][0], n[0][1])
	at += stride
	putPair(dst, at, n[1][0], n[1][1])
	at += stride
	putPair(dst, at, n[2][0], n[2][1])
	at += stride
	putPair(dst, at, n[0][0]*y-n[1][0]*x-g[1], n[0][1]*y-n[1][1]*x+g[0])
	at += stride
	putPair(dst, at, n[0][0]*z-n[2][0]*x+g[0]*a-g[2], n[0][1]*z-n[2][1]*x+g[0]*b)
	at += stride
	putPair(dst, at, n[1][0]*z-n[2][0]*y+g[1]*a, n[1][1]*z-n[2][1]*y+g[1]*b-g[2])
	at += stride
	putPair(dst, at, n[2][0]*h[4]+2*g[2]*x, n[2][1]*h[4])
	at += stride
	putPair(dst, at, n[2][0]*h[5]+g[2]*y, n[2][1]*h[5]+g[2]*x)
	at += stride
	putPair(dst, at, n[2][0]*h[6], n[2][1]*h[6]+2*g[2]*y)
}

// putPair writes dst[at] and dst[at+1].
func putPair(dst []float64, at int, u, v float64) {
	pair := dst[at : at+2 : at+2]
	pair[0], pair[1] = u, v
}

// outer writes J'e.
func (r *row3D) outer(v []float64, h *[7]float64) {
	e := &r.e
	v[0], v[1], v[2] = e[0], e[1], e[2]
	v[3], v[4], v[5] = e[0]*r.y-e[1]*r.x, e[0]*r.z-e[2]*r.x, e[1]*r.z-e[2]*r.y
	v[6], v[7], v[8] = e[2]*h[4], e[2]*h[5], e[2]*h[6]
}

func (s *sums3D) add(r *row3D, h *[7]float64, factor float64) {
	for j := range 7 {
		v := h[j]
		s.gh[0][j] += r.g[0] * v
		s.gh[1][j] += r.g[1] * v
		s.gh[2][j] += r.g[2] * v
		v *= factor
		for k := j; k < 7; k++ {
			s.hh[j][k] += v * h[k]
		}
	}
}

func (s *sums3D) addTo(dst *sums) {
	for r := range s.gh {
		for j, v := range s.gh[r] {
			dst.gh[7*r+j] += v
		}
	}
	for j := range s.hh {
		for k := j; k < 7; k++ {
			dst.hh[7*j+k] += s.hh[j][k]
		}
	}
}

// stepSurface steps rows of a surface as stepRows does.
func (k *quadraticInner) stepSurface(r innerRows) {
	q := k.surface()
	for i := r.from; i < r.to; i++ {
		k.form[i-r.from] = k.stepSurfaceRow(&q, r, i)
	}
}

// surface returns the quadratic problem of a row, without its point Y.
func (k *quadraticInner) surface() quadratic3D {
	q := quadratic3D{t0: k.f.Theta[0], t1: k.f.Theta[1], t2: k.f.Theta[2]}
	if k.twice != nil {
		q.twice = (*[9]float64)(k.twice)
	}
	return q
}

// stepSurfaceRow steps row i and returns its form.
func (k *quadraticInner) stepSurfaceRow(q *quadratic3D, r innerRows, i int) float64 {
	coords := k.coords[3*i : 3*i+3 : 3*i+3]
	k.frame.toFrame(coords, k.data.Row(i))
	q.y = [3]float64{coords[0], coords[1], coords[2]}
	tau := r.tau[2*i : 2*i+2 : 2*i+2]
	x, y := tau[0], tau[1]
	value := q.value(x, y)
	if k.data.Weight(i) > 0 {
		ox, oy := r.other[2*i], r.other[2*i+1]
		if v := q.value(ox, oy); v < value {
			x, y, value = ox, oy, v
		}
		tau[0], tau[1], value = q.step(x, y, value, nearest.InnerTries)
	}
	return value
}

// rowResiduals3D writes the residuals of listed rows, counted from a first one,
// at the latent rows tau, as residual does.
func rowResiduals3D(f *sheet.Sheet, r []float64, data rows.Data, tau []float64, rows []int, first int) {
	u, v, w := (*[3]float64)(f.QT), (*[3]float64)(f.QT[3:]), (*[3]float64)(f.QT[6:])
	c, t0, t1, t2 := (*[3]float64)(f.C), f.Theta[0], f.Theta[1], f.Theta[2]
	for k, i := range rows {
		x, y, at := tau[2*k], tau[2*k+1], (*[3]float64)(data.Row(first+i))
		z := t0*x*x + t1*x*y + t2*y*y
		*(*[3]float64)(r[3*k:]) = [3]float64{
			c[0] - at[0] + x*u[0] + y*v[0] + z*w[0],
			c[1] - at[1] + x*u[1] + y*v[1] + z*w[1],
			c[2] - at[2] + x*u[2] + y*v[2] + z*w[2],
		}
	}
}

// rowDerivatives3D writes gradient and Hessian of a row with respect to tau,
// for a loss of gradient g whose Hessian has the diagonal hessDiag.
func rowDerivatives3D(f *sheet.Sheet, grad, hess, tau, g, hessDiag []float64) {
	x, y, t0, t1, t2 := tau[0], tau[1], f.Theta[0], f.Theta[1], f.Theta[2]
	a, b := 2*t0*x+t1*y, t1*x+2*t2*y
	u, v, w := (*[3]float64)(f.QT), (*[3]float64)(f.QT[3:]), (*[3]float64)(f.QT[6:])
	var g0, g1, normal, h00, h01, h11 float64
	for k := range u {
		p, q, slope, c := u[k]+a*w[k], v[k]+b*w[k], g[k], hessDiag[k]
		g0 += slope * p
		g1 += slope * q
		normal += slope * w[k]
		h00 += c * p * p
		h01 += c * p * q
		h11 += c * q * q
	}
	h01 += normal * t1
	grad[0], grad[1] = g0, g1
	hess[0], hess[1], hess[2], hess[3] = h00+2*normal*t0, h01, h01, h11+2*normal*t2
}
