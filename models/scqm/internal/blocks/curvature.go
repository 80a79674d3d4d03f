package blocks

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
)

// curvatureKernel adds second derivatives of the cost with tau eliminated to what a
// gradientKernel sums: of the arrowhead A, B_i, C_i of a block it keeps
//
//	g - sum_i B_i |C_i|^-1 g_i   and   A - sum_i B_i |C_i|^-1 B_i',
//
// of which the upper triangle counts. They take n d P^2 operations.
type curvatureKernel struct {
	*gradientKernel
	of      *blockObjective // that the derivatives are for
	hessian *arrowhead.Hessian
	arrow   *latent.Arrowhead
	root    *dense.InverseRoot
	f       []float64 // n d: R_i'g_i
}

func newCurvatureKernel(r *Request, loss framework.Loss, most int) *curvatureKernel {
	return &curvatureKernel{gradientKernel: newGradientKernel(r, loss, most), root: dense.NewInverseRoot(r.Latent)}
}

func (k *curvatureKernel) sum(ctx context.Context, dst []float64, x rows.Data, first int) ([]float64, error) {
	from := k.r.firstOrderLen()
	sample, err := k.gradientKernel.sum(ctx, dst[:from], x, first)
	if err != nil {
		return nil, err
	}
	if k.of != k.whole {
		k.of, k.hessian = k.whole, arrowhead.New(k.whole.Objective)
		shape, _ := k.hessian.ArrowheadShape()
		k.arrow, k.f = latent.NewArrowhead(shape), make([]float64, shape.Inner())
	}
	if _, _, err := k.hessian.AssembleHessian(k.arrow, k.r.point(k.whole.tau)); err != nil {
		return nil, err
	}
	k.eliminate(dst[from:])
	return sample, nil
}

// eliminate writes the reduced gradient and Hessian. It overwrites B_i by B_i R_i, with
// |C_i|^-1 = R_i R_i'.
func (k *curvatureKernel) eliminate(dst []float64) {
	a := k.arrow
	d, n, p := a.Dim, a.Inner(), a.Outer
	for i := range a.Rows {
		k.root.Find(a.C[i*d*d : (i+1)*d*d])
		k.root.Multiply(k.f[i*d:(i+1)*d], a.InnerGrad[i*d:(i+1)*d])
		for q := range p {
			b := a.B[q*n+i*d : q*n+(i+1)*d]
			k.root.Multiply(b, b)
		}
	}
	gradient, s := dst[:p], dst[p:p+p*p]
	copy(gradient, a.OuterGrad)
	copy(s, a.A)
	b := blas64.General{Rows: p, Cols: n, Stride: n, Data: a.B}
	blas64.Gemv(blas.NoTrans, -1, b, blas64.Vector{N: n, Inc: 1, Data: k.f}, 1, blas64.Vector{N: p, Inc: 1, Data: gradient})
	for i := 0; i < p; i += dense.TileSide {
		tall := min(dense.TileSide, p-i)
		blas64.Gemm(blas.NoTrans, blas.Trans, -1,
			blas64.General{Rows: tall, Cols: n, Stride: n, Data: a.B[i*n:]},
			blas64.General{Rows: p - i, Cols: n, Stride: n, Data: a.B[i*n:]}, 1,
			blas64.General{Rows: tall, Cols: p - i, Stride: p, Data: s[i*p+i:]})
	}
}

// SecondOrder is the part of the result of a Curvature request that a Gradient request lacks: P entries of the reduced
// gradient, and the upper triangle of the reduced Hessian, P x P.
type SecondOrder struct{ Gradient, Hessian []float64 }

// SecondOrder decodes the sums of a Curvature request.
func (r *Request) SecondOrder(sums []float64) *SecondOrder {
	from := r.firstOrderLen()
	p := arrowhead.OuterDim(r.sheet().Shape, false)
	return &SecondOrder{Gradient: sums[from : from+p], Hessian: sums[from+p : from+p+p*p]}
}
