package residuals

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
)

// definiteDistances are logarithms of symmetric positive definite matrices:
//
//	r = log(A X A),  A = P^{-1/2},  |r| = |log(P^{-1/2} X P^{-1/2})|,
//
// the affine-invariant distance. With A X A = Q diag(e) Q' the derivative is that of the
// matrix logarithm, Dr[V] = Q (K o (Q'A V A Q)) Q', K_jk = (log e_j - log e_k)/(e_j - e_k).
//
// Source: R. Bhatia, Matrix Analysis, Springer 1997, theorem V.3.3 (Daleckii and Krein).
type definiteDistances struct {
	on     *manifolds.SPD
	order  int
	points rows.Data
	roots  []float64 // A of every point
	work   sync.Pool
}

// definiteWork is the memory of one goroutine.
type definiteWork struct {
	eigen        *dense.SymmetricEigen
	a, b, kernel []float64
}

func newDefiniteDistances(m *manifolds.SPD, points rows.Data) (*definiteDistances, error) {
	order := int(math.Round(math.Sqrt(float64(m.Size()))))
	d := &definiteDistances{on: m, order: order, points: points, roots: make([]float64, len(points.X))}
	d.work.New = func() any {
		return &definiteWork{eigen: dense.NewSymmetricEigen(order), a: make([]float64, order*order),
			b: make([]float64, order*order), kernel: make([]float64, order*order)}
	}
	w := d.work.Get().(*definiteWork)
	defer d.work.Put(w)
	for i := range points.N {
		copy(w.eigen.A, points.Row(i))
		if !w.eigen.Factorize() || !(w.eigen.Values[0] > 0) {
			return nil, fmt.Errorf("residuals: row %d is not positive definite: %w", i, rows.ErrInput)
		}
		root := d.root(i)
		for j := range order {
			for k := range order {
				w.a[j*order+k] = w.eigen.A[j*order+k] / math.Sqrt(w.eigen.Values[k])
			}
		}
		d.multiply(root, w.a, w.eigen.A, blas.NoTrans, blas.Trans)
	}
	return d, nil
}

// root returns A of point i.
func (d *definiteDistances) root(i int) []float64 { return d.roots[i*d.points.D : (i+1)*d.points.D] }

// multiply writes the product of two matrices, transposed or not, into dst.
func (d *definiteDistances) multiply(dst, a, b []float64, ta, tb blas.Transpose) {
	wrap := func(x []float64) blas64.General {
		return blas64.General{Rows: d.order, Cols: d.order, Stride: d.order, Data: x}
	}
	blas64.Gemm(ta, tb, 1, wrap(a), wrap(b), 0, wrap(dst))
}

// Blocks describes x.
func (d *definiteDistances) Blocks() []framework.Block { return block(d.on) }

// Shape is the number of points and that of the entries of a matrix.
func (d *definiteDistances) Shape() (n, m int) { return d.points.N, d.points.D }

// factor finds the eigenvalues and eigenvectors of A X A for point i.
func (d *definiteDistances) factor(w *definiteWork, x []float64, i int) error {
	d.multiply(w.a, d.root(i), x, blas.NoTrans, blas.NoTrans)
	d.multiply(w.eigen.A, w.a, d.root(i), blas.NoTrans, blas.NoTrans)
	if !w.eigen.Factorize() || !(w.eigen.Values[0] > 0) {
		return fmt.Errorf("row %d: x is not positive definite as seen from there: %w", i, framework.ErrNonFinite)
	}
	return nil
}

// Residuals writes matrix logarithms.
func (d *definiteDistances) Residuals(dst []float64, x framework.Point, from, to int) error {
	w := d.work.Get().(*definiteWork)
	defer d.work.Put(w)
	for i := from; i < to; i++ {
		if err := d.factor(w, x[0], i); err != nil {
			return err
		}
		for j := range d.order {
			for k, e := range w.eigen.Values {
				w.a[j*d.order+k] = w.eigen.A[j*d.order+k] * math.Log(e)
			}
		}
		d.multiply(dst[(i-from)*d.points.D:(i-from+1)*d.points.D], w.a, w.eigen.A, blas.NoTrans, blas.Trans)
	}
	return nil
}

// differentiate replaces the symmetric matrix in w.b by D log(A X A)[w.b], for the
// factors that w holds.
func (d *definiteDistances) differentiate(w *definiteWork) {
	q, e, n := w.eigen.A, w.eigen.Values, d.order
	d.multiply(w.a, q, w.b, blas.Trans, blas.NoTrans)
	d.multiply(w.b, w.a, q, blas.NoTrans, blas.NoTrans)
	for j := range n {
		for k := range n {
			w.b[j*n+k] *= logarithmicSlope(e[j], e[k])
		}
	}
	d.multiply(w.a, q, w.b, blas.NoTrans, blas.NoTrans)
	d.multiply(w.b, w.a, q, blas.NoTrans, blas.Trans)
}

// logarithmicSlope is (log a - log b)/(a - b), 1/a where a = b.
func logarithmicSlope(a, b float64) float64 {
	h := (a - b) / b
	if math.Abs(h) < 1e-8 {
		return (1 - h/2) / b
	}
	return math.Log1p(h) / (a - b)
}

// between replaces w.b by A w.b A for point i.
func (d *definiteDistances) between(w *definiteWork, i int) {
	d.multiply(w.a, d.root(i), w.b, blas.NoTrans, blas.NoTrans)
	d.multiply(w.b, w.a, d.root(i), blas.NoTrans, blas.NoTrans)
}

// JacobianProduct implements [Jacobian].
func (d *definiteDistances) JacobianProduct(dst []float64, x, v framework.Point, from, to int) error {
	w := d.work.Get().(*definiteWork)
	defer d.work.Put(w)
	for i := from; i < to; i++ {
		if err := d.factor(w, x[0], i); err != nil {
			return err
		}
		copy(w.b, v[0])
		d.between(w, i)
		d.differentiate(w)
		copy(dst[(i-from)*d.points.D:(i-from+1)*d.points.D], w.b)
	}
	return nil
}

// AddTransposedProduct implements [Jacobian].
func (d *definiteDistances) AddTransposedProduct(dst, x framework.Point, g []float64, from, to int) error {
	w := d.work.Get().(*definiteWork)
	defer d.work.Put(w)
	for i := from; i < to; i++ {
		if err := d.factor(w, x[0], i); err != nil {
			return err
		}
		row := g[(i-from)*d.points.D : (i-from+1)*d.points.D]
		for j := range d.order {
			for k := range d.order {
				w.b[j*d.order+k] = (row[j*d.order+k] + row[k*d.order+j]) / 2
			}
		}
		d.differentiate(w)
		d.between(w, i)
		floats.Add(dst[0], w.b)
	}
	return nil
}
