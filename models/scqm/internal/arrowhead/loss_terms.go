package arrowhead

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
)

// What follows treats losses by their structure. Radial ones are functions of
// |e|^2 = |r|^2, with Hessian 2 rho' I + 4 rho″ e e' in any frame; quadratic
// ones have the constant Hessian 2 W'MW; separable ones a diagonal one outside the
// frame, see addDiagonalMoments; of others the Hessian is computed row by row, column
// by column of W. A row takes D, D^2 and D^2 operations, or D^3 and D products with the
// Hessian where the loss has no structure.

// prepareLoss transforms the matrix of a quadratic loss to the frame.
func (a *Hessian) prepareLoss() {
	if a.structure == rowloss.StructureQuadratic {
		a.Frame.Quadratic(a.constant, a.o.Loss().(framework.Quadratic).Matrix())
	}
}

// lossDerivatives computes losses and gradients of the first n rows of the batch and, if it differs between rows, the
// data of their Hessians.
func (a *Hessian) lossDerivatives(w *worker, n int) error {
	D := a.F.D
	switch a.structure {
	case rowloss.StructureRadial:
		for i := range n {
			e := w.e[i*D : (i+1)*D]
			w.u[i] = dense.Dot(e, e)
		}
		a.o.Loss().(framework.Radial).Rho(w.value[:n], w.one[:n], w.two[:n], w.u[:n])
		for i := range n {
			g, factor := w.g[i*D:(i+1)*D], 2*w.one[i]
			for r, v := range w.e[i*D : (i+1)*D] {
				g[r] = factor * v
			}
		}
		return nil
	case rowloss.StructureQuadratic:
		for i := range n {
			e, g := w.e[i*D:(i+1)*D], w.g[i*D:(i+1)*D]
			for r := range g {
				g[r] = dense.Dot(a.constant[r*D:(r+1)*D], e)
			}
			w.value[i] = dense.Dot(e, g) / 2
		}
		return nil
	default:
		return a.generalDerivatives(w, n)
	}
}

// leaveFrame transforms the first n residuals of the batch back to the coordinates of the data.
func (a *Hessian) leaveFrame(w *worker, n int) {
	D := a.F.D
	for i := range n {
		a.Frame.Restore(w.atRows.r[i*D:(i+1)*D], w.e[i*D:(i+1)*D])
	}
}

// generalDerivatives evaluates the loss in the coordinates of the data, and transforms its derivatives to the frame.
func (a *Hessian) generalDerivatives(w *worker, n int) error {
	D, fr := a.F.D, a.Frame
	at := &w.atRows
	if !a.o.Data().Missing { // else they are there
		a.leaveFrame(w, n)
	}
	if err := a.evaluate(at, n, D); err != nil {
		return err
	}
	copy(w.value, at.value[:n])
	for i := range n {
		for q := range D {
			w.g[i*D+q] = dense.Dot(fr.Axis(q), at.g[i*D:(i+1)*D])
		}
	}
	if a.structure == rowloss.StructureSeparable {
		return nil
	}
	w.hess = dense.Grow(w.hess, w.batch*D*D)
	return a.turnProducts(w, at.r[:n*D], n)
}

// turnProducts computes W' (hess loss) W of the first n rows of the batch, column
// by column.
func (a *Hessian) turnProducts(w *worker, r []float64, n int) error {
	D, fr := a.F.D, a.Frame
	column := w.atRows.g[:n*D] // which is no longer needed
	for q := range D {
		for i := range n {
			copy(column[i*D:(i+1)*D], fr.Axis(q))
		}
		if err := a.second.HessianProduct(column, r, column, D); err != nil {
			return err
		}
		for i := range n {
			for t := range q + 1 {
				v := floats.Dot(fr.Axis(t), column[i*D:(i+1)*D])
				w.hess[i*D*D+t*D+q], w.hess[i*D*D+q*D+t] = v, v
			}
		}
	}
	return nil
}

// hessianTimesJacobian writes w H E of row k into he.
func (a *Hessian) hessianTimesJacobian(w *worker, k int, weight float64) {
	D := a.F.D
	switch a.structure {
	case rowloss.StructureRadial:
		a.radialTimesJacobian(w, k, weight)
	case rowloss.StructureQuadratic:
		a.timesJacobian(w, a.constant, weight)
	case rowloss.StructureSeparable:
		a.diagonalTimesJacobian(w, w.atRows.hessDiag[k*D:(k+1)*D], weight)
	default:
		a.timesJacobian(w, w.hess[k*D*D:(k+1)*D*D], weight)
	}
}

// timesJacobian writes weight H E into he for any H.
func (a *Hessian) timesJacobian(w *worker, hess []float64, weight float64) {
	f := a.F
	d, D := f.Latent, f.D
	e := w.dh[d : (1+f.M)*d] // m x d
	for r := range D {
		he := w.he[r*d : (r+1)*d]
		clear(he)
		for q, v := range hess[r*D : r*D+f.M] {
			v *= weight
			for j, x := range e[q*d : (q+1)*d] {
				he[j] += v * x
			}
		}
	}
}

func (a *Hessian) radialTimesJacobian(w *worker, k int, weight float64) {
	f := a.F
	d, m := f.Latent, f.M
	e := w.dh[d : (1+m)*d]
	he := w.he
	first, second := 2*weight*w.one[k], 4*weight*w.two[k]
	for i, v := range e {
		he[i] = first * v
	}
	clear(he[m*d:])
	if second == 0 {
		return
	}
	r := w.e[k*f.D : (k+1)*f.D]
	clear(w.t)
	for q := range m {
		for j, v := range e[q*d : (q+1)*d] {
			w.t[j] += r[q] * v
		}
	}
	for q, v := range r {
		v *= second
		for j, t := range w.t {
			he[q*d+j] += v * t
		}
	}
}

// addOuter adds J'HJ of row k: to hh if H is a multiple of one matrix for all rows, otherwise to a.
func (a *Hessian) addOuter(w *worker, s *sums, h []float64, k int, weight float64) {
	switch a.structure {
	case rowloss.StructureRadial:
		w.features.addWeighted(h, 2*weight*w.one[k])
		if second := 4 * weight * w.two[k]; second != 0 {
			e := w.e[k*a.F.D : (k+1)*a.F.D]
			a.pull(w.v, e, h)
			w.pulls.addWeighted(w.v, second)
		}
	case rowloss.StructureQuadratic:
		w.features.addWeighted(h, weight)
	case rowloss.StructureSeparable:
		w.moments.addMoments(h, w.atRows.hessDiag[k*a.F.D:(k+1)*a.F.D], weight) // S, see growDiagonal
	default:
		a.addGeneral(s.a, w.hess[k*a.F.D*a.F.D:(k+1)*a.F.D*a.F.D], h, weight)
	}
}

// pull writes J'e, with J the Jacobian of e by the outer coordinates.
func (a *Hessian) pull(v, e, h []float64) {
	from := 0
	for p := range v[:a.P] {
		end := a.first[p+1]
		var sum float64
		for _, t := range a.terms[from:end] {
			sum += t.Sign * e[t.Row] * h[t.Feature]
		}
		v[p], from = sum, end
	}
}

// addGeneral adds weight J'HJ to the upper triangle of dst.
func (a *Hessian) addGeneral(dst, hess, h []float64, weight float64) {
	D := a.F.D
	for p := range a.P {
		for _, t := range a.TermsOf(p) {
			left, row := weight*t.Sign*h[t.Feature], hess[t.Row*D:(t.Row+1)*D]
			for q := p; q < a.P; q++ {
				var sum float64
				for _, u := range a.TermsOf(q) {
					sum += u.Sign * h[u.Feature] * row[u.Row]
				}
				dst[p*a.P+q] += left * sum
			}
		}
	}
}

// momentPair adds a multiple of an entry of hh to an entry of A.
type momentPair struct {
	to, from int
	sign     float64
	row, col int // of H
}

// listPairs lists the pairs of terms in one row of e, or in any two rows.
func (a *Hessian) listPairs(sameRow bool) []momentPair {
	var list []momentPair
	for p := range a.P {
		for q := p; q < a.P; q++ {
			for _, t := range a.TermsOf(p) {
				for _, u := range a.TermsOf(q) {
					if t.Row == u.Row || !sameRow {
						from := min(t.Feature, u.Feature)*a.Nf + max(t.Feature, u.Feature)
						list = append(list, momentPair{p*a.P + q, from, t.Sign * u.Sign, t.Row, u.Row})
					}
				}
			}
		}
	}
	return list
}

// addMoments adds J'HJ summed over rows, from hh, to the upper triangle of dst.
func (a *Hessian) addMoments(dst, hh []float64) {
	radial := a.structure == rowloss.StructureRadial
	if !radial && a.structure != rowloss.StructureQuadratic {
		return
	}
	if a.pairs == nil {
		a.pairs = a.listPairs(radial)
	}
	for i := range a.pairs {
		t := &a.pairs[i]
		v := t.sign * hh[t.from]
		if !radial {
			v *= a.constant[t.row*a.F.D+t.col]
		}
		dst[t.to] += v
	}
}
