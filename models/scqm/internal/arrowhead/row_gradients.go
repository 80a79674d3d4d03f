package arrowhead

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// RowGradients writes the derivatives of the weighted losses of some rows at x with
// respect to the outer coordinates v into dst, len(rows) x P: dst_kp = w_i g' de_i/dv_p
// for row i = rows[k], its tau held. They add up to OuterGrad of [Hessian.AssembleHessian]
// without the penalty, for P products a row in place of P^2. Entries of the data must not
// be missing. A loss that fails is an error that names it.
func (a *Hessian) RowGradients(dst []float64, x framework.Point, rows []int) error {
	a.prepare(x)
	a.Frame.Complete()
	a.prepareLoss()
	w, tau := a.worker(0), x[objective.BlockTau]
	for from := 0; from < len(rows); from += w.batch {
		batch := rows[from:min(from+w.batch, len(rows))]
		for k, i := range batch {
			a.rowResidual(w, k, tau[i*a.F.Latent:(i+1)*a.F.Latent], a.o.Data().Row(i))
		}
		if err := a.lossDerivatives(w, len(batch)); err != nil {
			return fmt.Errorf("scqm: loss %s: %w", a.o.Loss().Name(), err)
		}
		for k, i := range batch {
			a.rowGradient(dst[(from+k)*a.P:(from+k+1)*a.P], w, k, a.o.Data().Weight(i))
		}
	}
	return nil
}

// rowResidual computes the features and the residual in the frame of row k of a batch.
func (a *Hessian) rowResidual(w *worker, k int, tau, x []float64) {
	h, e := w.h[k*a.Nf:(k+1)*a.Nf], w.e[k*a.F.D:(k+1)*a.F.D]
	a.Features(h, tau)
	a.Frame.toFrame(e, x)
	for r, y := range e {
		e[r] = -y
		if r < a.F.M {
			e[r] = h[1+r] - y
		}
	}
}

// rowGradient writes the outer gradient of row k of a batch.
func (a *Hessian) rowGradient(dst []float64, w *worker, k int, weight float64) {
	h, g := w.h[k*a.Nf:(k+1)*a.Nf], w.g[k*a.F.D:(k+1)*a.F.D]
	dense.Scale(g, weight)
	for p := range dst {
		var sum float64
		for _, u := range a.TermsOf(p) {
			sum += u.Sign * g[u.Row] * h[u.Feature]
		}
		dst[p] = sum
	}
}
