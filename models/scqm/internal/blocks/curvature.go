package blocks

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
)

// innerFlatness is the least eigenvalue of the second derivatives of a row, relative to the largest magnitude;
// smaller ones are raised to it.
const innerFlatness = 1e-8

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
	arrow   *framework.Arrowhead
	root    []float64 // d x d
	f       []float64 // n d: R_i'g_i
	eigen   *dense.SymmetricEigen
}

func newCurvatureKernel(r *Request, loss framework.Loss, most int) *curvatureKernel {
	d := r.Latent
	return &curvatureKernel{gradientKernel: newGradientKernel(r, loss, most), root: make([]float64, d*d), eigen: dense.NewSymmetricEigen(d)}
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
		k.arrow, k.f = framework.NewArrowhead(shape), make([]float64, shape.Inner())
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
		k.findRoot(a.C[i*d*d : (i+1)*d*d])
		k.timesRoot(k.f[i*d:(i+1)*d], a.InnerGrad[i*d:(i+1)*d])
		for q := range p {
			b := a.B[q*n+i*d : q*n+(i+1)*d]
			k.timesRoot(b, b)
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

// timesRoot writes b R; dst may be b.
func (k *curvatureKernel) timesRoot(dst, b []float64) {
	var buffer [8]float64
	d := len(b)
	out := append(buffer[:0], b...)
	clear(out)
	for i, v := range b {
		for j, r := range k.root[i*d : (i+1)*d] {
			out[j] += v * r
		}
	}
	copy(dst, out)
}

// findRoot writes R with |C|^-1 = RR', 0 for a row of weight 0.
func (k *curvatureKernel) findRoot(c []float64) {
	d := k.arrow.Dim
	var most float64
	for i := range d {
		most = max(most, math.Abs(c[i*d+i]))
	}
	copy(k.root, c)
	if dense.FactorCholesky(k.root, d, innerFlatness*most, 0) {
		dense.InvertTransposed(k.root, d)
		return
	}
	copy(k.eigen.A, c)
	k.eigen.FactorizeOrIdentity()
	values := k.eigen.Values
	most = max(math.Abs(values[0]), math.Abs(values[d-1]))
	for j, w := range values {
		by := 0.0
		if most > 0 {
			by = 1 / math.Sqrt(max(math.Abs(w), innerFlatness*most))
		}
		for i := range d {
			k.root[i*d+j] = k.eigen.A[i*d+j] * by
		}
	}
}

// SecondOrder is the result of a Curvature request beyond first order: P entries of the reduced gradient, and
// the upper triangle of the reduced Hessian, P x P.
type SecondOrder struct{ Gradient, Hessian []float64 }

// SecondOrder decodes the sums of a Curvature request.
func (r *Request) SecondOrder(sums []float64) *SecondOrder {
	from := r.firstOrderLen()
	p := arrowhead.OuterDim(r.sheet().Shape, false)
	return &SecondOrder{Gradient: sums[from : from+p], Hessian: sums[from+p : from+p+p*p]}
}
