package arrowhead

import (
	"math"

	"github.com/scqm/scqm/framework/rowloss"
)

// The formulas of primalDual for radial and separable losses, written out for surfaces in space.

// isDualSurface reports whether these kernels apply.
func (a *Hessian) isDualSurface() bool {
	return a.isSurface3D() && (a.structure == rowloss.StructureRadial || a.structure == rowloss.StructureSeparable)
}

// dual3D is the smoothed loss of a row: its gradient, the matrix H and the dual variables, in the frame.
type dual3D struct {
	slope, g [3]float64
	hess     [9]float64
}

// load sets residual, dual variables and the length eps, and returns the smoothed loss.
func (d *dual3D) load(fr *Frame, e *[3]float64, dual []float64, eps float64) float64 {
	size := e[0]*e[0] + e[1]*e[1] + e[2]*e[2]
	theta := math.Sqrt(size + eps*eps)
	inverse := 1 / theta
	for k := range d.g {
		axis := (*[3]float64)(fr.Axis(k))
		d.g[k] = axis[0]*dual[0] + axis[1]*dual[1] + axis[2]*dual[2]
		d.slope[k] = e[k] * inverse
	}
	v, g := &d.slope, &d.g
	for r := range 3 {
		for q := range r + 1 {
			c := -(v[r]*g[q] + g[r]*v[q]) / 2 * inverse
			d.hess[3*r+q], d.hess[3*q+r] = c, c
		}
		d.hess[4*r] += inverse
	}
	return size / (theta + eps)
}

// loadEntries is load for a separable loss.
func (d *dual3D) loadEntries(a *Hessian, pd *primalDual, e *[3]float64, dual []float64, eps float64) float64 {
	w := (*[9]float64)(a.Frame.W)
	for k := range pd.row {
		pd.row[k] = e[0]*w[k] + e[1]*w[3+k] + e[2]*w[6+k]
	}
	value := pd.entries(a.o.PlainLoss(), dual, eps)
	v, c := (*[3]float64)(pd.row), (*[3]float64)(pd.curve)
	for q := range 3 {
		x, y, z := w[3*q], w[3*q+1], w[3*q+2]
		d.slope[q] = x*v[0] + y*v[1] + z*v[2]
		d.g[q] = x*dual[0] + y*dual[1] + z*dual[2]
		x, y, z = x*c[0], y*c[1], z*c[2]
		for t := range q + 1 {
			u := x*w[3*t] + y*w[3*t+1] + z*w[3*t+2]
			d.hess[3*q+t], d.hess[3*t+q] = u, u
		}
	}
	return value
}

// surface adds rows of a surface as addRow does.
func (job *primalDualShard) surface(a *Hessian, w *worker, s *sums, lo, hi int) error {
	t0, t1, t2 := a.F.Theta[0], a.F.Theta[1], a.F.Theta[2]
	data := a.o.Data()
	return job.eachSurface(a, w, lo, hi, func(i int, row *row3D, h *[7]float64, d *dual3D, value float64) {
		weight := data.Weight(i)
		s.cost += weight * value
		row.setProducts(d.g[:], &d.hess, weight)
		row.inner(job.dst.InnerGrad[2*i:2*i+2:2*i+2], job.dst.C[4*i:4*i+4:4*i+4], t0, t1, t2)
		row.couple(job.dst.B, job.dst.Inner(), 2*i, h)
		slope := [3]float64{weight * d.slope[0], weight * d.slope[1], weight * d.slope[2]}
		row.addOuter((*[81]float64)(s.a), h, &d.hess, weight)
		addMoments(s.gh, h, &slope)
		addMoments(s.dual, h, &row.g)
		grad := job.dst.InnerGrad[2*i : 2*i+2]
		grad[0], grad[1] = slope[0]+row.a*slope[2], slope[1]+row.b*slope[2]
	})
}

// eachSurface calls work for every row, with its coordinates and its loss.
func (job *primalDualShard) eachSurface(a *Hessian, w *worker, lo, hi int, work func(i int, row *row3D, h *[7]float64, d *dual3D, value float64)) error {
	t0, t1, t2, eps := a.F.Theta[0], a.F.Theta[1], a.F.Theta[2], a.o.SmoothingLength()
	var d dual3D
	var row row3D
	var pd *primalDual // of sums over entries
	if a.structure == rowloss.StructureSeparable {
		pd = w.primalDual(a.F)
	}
	for from := lo; from < hi; from += w.batch {
		if err := a.o.Context().Err(); err != nil {
			return err
		}
		to := min(from+w.batch, hi)
		job.surfaceResiduals(a, w, from, to)
		for i := from; i < to; i++ {
			k := i - from
			h, e := (*[7]float64)(w.h[7*k:]), (*[3]float64)(w.e[3*k:])
			row.x, row.y, row.z = h[1], h[2], h[3]
			row.a, row.b = 2*t0*row.x+t1*row.y, t1*row.x+2*t2*row.y
			dual := job.dual[3*i : 3*i+3 : 3*i+3]
			var value float64
			if pd != nil {
				value = d.loadEntries(a, pd, e, dual, eps)
			} else {
				value = d.load(a.Frame, e, dual, eps)
			}
			work(i, &row, h, &d, value)
		}
	}
	return nil
}

// surface moves the dual variables of rows of a surface as moveRow does.
func (job *moveDualShard) surface(a *Hessian, w *worker, lo, hi int) error {
	ball, bounded := a.o.PlainLoss().(rowloss.SupportFunction)
	err := job.eachSurface(a, w, lo, hi, func(i int, row *row3D, h *[7]float64, d *dual3D, _ float64) {
		x, y := job.inner[2*i], job.inner[2*i+1]
		de := [3]float64{x, y, row.a*x + row.b*y}
		for r := range de {
			outer := (*[7]float64)(job.outer[7*r:])
			for k, u := range h {
				de[r] += outer[k] * u
			}
		}
		dual := job.dual[3*i : 3*i+3 : 3*i+3]
		for r := range de {
			hess := d.hess[3*r : 3*r+3 : 3*r+3]
			v := job.fraction * (d.slope[r] + hess[0]*de[0] + hess[1]*de[1] + hess[2]*de[2] - d.g[r])
			axis := (*[3]float64)(a.Frame.Axis(r))
			dual[0] += v * axis[0]
			dual[1] += v * axis[1]
			dual[2] += v * axis[2]
		}
	})
	if err == nil && bounded {
		ball.ProjectDual(job.dual[3*lo:3*hi], 3)
	}
	return err
}
