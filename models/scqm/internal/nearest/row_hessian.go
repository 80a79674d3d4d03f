package nearest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// RowHessian computes the Hessians of row costs with respect to tau,
//
//	H = E'Q' (hess loss)(r) Q E + sum_k (V'g)_k 2 A_k,
//
// with E the Jacobian of z. It holds the buffers for it. A row takes md^2 operations
// for a radial loss, else 2Dmd and d products with the Hessian of the loss.
type RowHessian struct {
	E       []float64 // m x d
	jr      []float64 // d: E'Q'r
	v       []float64 // batch x D: one column of the Jacobian per row
	columns []float64 // batch x m: the same in the frame
	u, one  []float64 // squared norms; first and second derivatives of rho
	two     []float64
	scratch []float64 // m
}

func NewRowHessian(f *sheet.Sheet) *RowHessian {
	return &RowHessian{E: make([]float64, f.M*f.Latent), jr: make([]float64, f.Latent), scratch: make([]float64, f.M)}
}

// batch writes the Hessians of a batch of rows: n residuals r with loss
// gradients g at the latent rows tau, into hess[i] for i in [0, n).
func (h *RowHessian) batch(f *sheet.Sheet, w *Worker, loss framework.Loss, hess [][]float64, r, g []float64, tau func(i int) []float64) error {
	if l, ok := loss.(framework.Radial); ok {
		h.radial(f, w, l, hess, r, tau)
	} else if err := h.general(f, w, loss, hess, r, tau); err != nil {
		return err
	}
	f.RowsToFrame(w.Pulled, g, len(hess))
	for i := range hess {
		f.WeighForms(w.W, w.Row(w.Pulled, f.M, i)[f.Latent:])
		f.AddCurvature(hess[i], w.W)
	}
	return nil
}

// radial uses hess loss = 2 rho' I + 4 rho″ rr', so that with Q'Q = I only
// E'E and E'Q'r are needed.
func (h *RowHessian) radial(f *sheet.Sheet, w *Worker, loss framework.Radial, hess [][]float64, r []float64, tau func(i int) []float64) {
	n := len(hess)
	h.u, h.one, h.two = dense.Grow(h.u, n), dense.Grow(h.one, n), dense.Grow(h.two, n)
	for i := range n {
		ri := r[i*f.D : (i+1)*f.D]
		h.u[i] = floats.Dot(ri, ri)
	}
	loss.Rho(nil, h.one, h.two, h.u)
	for i := range n {
		f.ToFrame(h.scratch, r[i*f.D:(i+1)*f.D])
		f.TauGradient(h.jr, w.W, tau(i), h.scratch)
		f.Jacobian(h.E, tau(i))
		dense.Gram(hess[i], h.E, f.M, f.Latent, 2*h.one[i])
		for a, va := range h.jr {
			floats.AddScaled(hess[i][a*f.Latent:(a+1)*f.Latent], 4*h.two[i]*va, h.jr)
		}
	}
}

// general applies the loss's Hessian to the columns of the Jacobian QE.
func (h *RowHessian) general(f *sheet.Sheet, w *Worker, loss framework.Loss, hess [][]float64, r []float64, tau func(i int) []float64) error {
	n := len(hess)
	second := framework.HessianOf(loss)
	h.v, h.columns = dense.Grow(h.v, n*f.D), dense.Grow(h.columns, n*f.M)
	for j := range f.Latent {
		clear(h.v)
		for i := range n {
			f.Jacobian(h.E, tau(i))
			for k := range f.M {
				h.columns[i*f.M+k] = h.E[k*f.Latent+j]
			}
		}
		f.AddImages(h.v, h.columns, n)
		if err := second.HessianProduct(h.v, r, h.v, f.D); err != nil {
			return err
		}
		f.RowsToFrame(h.columns, h.v, n)
		for i := range n {
			f.TauGradient(h.jr, w.W, tau(i), h.columns[i*f.M:(i+1)*f.M])
			for a, va := range h.jr {
				hess[i][a*f.Latent+j] = va
			}
		}
	}
	return nil
}
