package manifolds

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// semidefinite is a set of positive semidefinite n x n matrices X = YY', represented by factors Y, n x r, whose rows
// are on a rotation-invariant manifold of R^r. YQ with an orthogonal Q represents the same point. Tangent vectors at
// Y are horizontal: V with a symmetric Y'V.
//
// Sources: M. Journee, F. Bach, P.-A. Absil, R. Sepulchre, Low-rank optimization on the cone of
// positive semidefinite matrices, SIAM J. Optim. 20 (2010) 2327-2351; E. Massart, P.-A. Absil,
// Quotient geometry with simple geodesics for the manifold of fixed-rank positive-semidefinite
// matrices, SIAM J. Matrix Anal. Appl. 41 (2020) 171-198.
type semidefinite struct {
	n, r int
	rows framework.Block
	pool sync.Pool
}

// factorSpace is scratch space.
type factorSpace struct {
	a     []float64 // n x r
	s, t  blas64.General
	eig   *dense.SymmetricEigen
	frame *frame
}

func newSemidefinite(name string, n, r int, row framework.Manifold) semidefinite {
	if n < 1 || r < 1 {
		panic(fmt.Sprintf("manifolds: %s %dx%d: the shape must have at least one row and one column", name, n, r))
	}
	return semidefinite{n: n, r: r, rows: framework.Block{Manifold: row, Copies: n}, pool: sync.Pool{New: func() any {
		return &factorSpace{a: make([]float64, n*r), s: zeros(r, r), t: zeros(r, r), eig: dense.NewSymmetricEigen(r), frame: newFrame(r, r)}
	}}}
}

func (m *semidefinite) wrap(y []float64) blas64.General {
	return matrix(m.n, m.r, y)
}

// Size is nr.
func (m *semidefinite) Size() int { return m.n * m.r }

// Dim is the dimension of the factors less r(r-1)/2.
func (m *semidefinite) Dim() int { return max(m.rows.Dim()-m.r*(m.r-1)/2, 0) }

// Project writes the projection W of V on the tangent spaces of the rows, less YS with the
// skew-symmetric S that solves Y'YS + SY'Y = Y'W - W'Y.
func (m *semidefinite) Project(dst, x, v []float64) {
	mustFit(m.Size(), dst, x, v)
	w := m.pool.Get().(*factorSpace)
	defer m.pool.Put(w)
	m.rows.Project(w.a, x, v)
	m.horizontal(w, w.a, x)
	copy(dst, w.a)
}

// horizontal replaces v by its horizontal part.
func (m *semidefinite) horizontal(w *factorSpace, v, x []float64) {
	y, eigenvectors := m.wrap(x), matrix(m.r, m.r, w.eig.A)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, y, y, 0, eigenvectors)
	if !w.eig.Factorize() {
		for i := range v {
			v[i] = math.NaN()
		}
		return
	}
	blas64.Gemm(blas.Trans, blas.NoTrans, 2, y, m.wrap(v), 0, w.s)
	skew(w.s)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, eigenvectors, w.s, 0, w.t)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, w.t, eigenvectors, 0, w.s)
	values := w.eig.Values
	least := values[m.r-1] * 0x1p-50 // where Y has a lower rank, nothing moves along YS
	for i := range m.r {
		for j := range m.r {
			if d := values[i] + values[j]; d > least {
				w.s.Data[i*m.r+j] /= d
			} else {
				w.s.Data[i*m.r+j] = 0
			}
		}
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, eigenvectors, w.s, 0, w.t)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, w.t, eigenvectors, 0, w.s)
	skew(w.s)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, y, w.s, 1, m.wrap(v))
}

// Retract retracts the rows. It fails where the retraction of a row fails.
func (m *semidefinite) Retract(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	return m.rows.Retract(dst, x, v)
}

// RetractionOrder is 2.
func (*semidefinite) RetractionOrder() int { return 2 }

// RiemannianHessian writes the horizontal part of the Riemannian Hessian on the manifold of the rows.
func (m *semidefinite) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(m.Size(), dst, x, g, h, v)
	w := m.pool.Get().(*factorSpace)
	defer m.pool.Put(w)
	if err := m.rows.Hessian(w.a, x, g, h, v); err != nil {
		panic(err) // both manifolds of rows have one
	}
	m.horizontal(w, w.a, x)
	copy(dst, w.a)
}

// Rand draws the rows independently.
func (m *semidefinite) Rand(dst []float64, rng *rand.Rand) {
	mustFit(m.Size(), dst)
	m.rows.Rand(dst, rng)
}

// Same writes YQ with a uniformly distributed orthogonal Q.
func (m *semidefinite) Same(dst, x []float64, rng *rand.Rand) {
	mustFit(m.Size(), dst, x)
	w := m.pool.Get().(*factorSpace)
	defer m.pool.Put(w)
	w.frame.rand(w.s.Data, rng)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, m.wrap(x), w.s, 0, m.wrap(w.a))
	copy(dst, w.a)
}

// Elliptope is the set of correlation matrices, positive semidefinite with a diagonal of 1, of
// rank at most r, as YY' with unit rows of Y, n x r, with the inner product trace(U'V). Points
// are classes: YQ with an orthogonal Q is the same as Y.
type Elliptope struct{ semidefinite }

// NewElliptope returns the correlation matrices of order n and rank at most r. It panics unless both are at least
// 1.
func NewElliptope(n, r int) *Elliptope {
	return &Elliptope{newSemidefinite("elliptope", n, r, Sphere(r))}
}

// String returns a name such as "elliptope 10x2".
func (m *Elliptope) String() string { return fmt.Sprintf("elliptope %dx%d", m.n, m.r) }

// Exp moves every row along its great arc.
func (m *Elliptope) Exp(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	return m.rows.Exp(dst, x, v)
}

// Violation is the largest of | |y|^2 - 1 | over the rows y, or +Inf where Y is not finite.
func (m *Elliptope) Violation(x []float64) float64 {
	mustFit(m.Size(), x)
	return m.rows.Violation(x)
}

// Restore divides the rows by their lengths. It fails where one is zero or not finite.
func (m *Elliptope) Restore(x []float64) error {
	mustFit(m.Size(), x)
	return m.rows.Restore(x)
}

// PSDFixedRank is the set of positive semidefinite n x n matrices of rank r, as YY' with Y, n x
// r, and the inner product trace(U'V): the metric of Bures and Wasserstein. Points are
// classes: YQ with an orthogonal Q is the same as Y. Where Y loses rank, the set has an edge.
type PSDFixedRank struct{ semidefinite }

// NewPSDFixedRank returns the matrices of order n and rank r. It panics unless r is from 1 to n.
func NewPSDFixedRank(n, r int) *PSDFixedRank {
	if r > n {
		panic(fmt.Sprintf("manifolds: psd_fixed_rank %dx%d: the rank must be at most the order", n, r))
	}
	return &PSDFixedRank{newSemidefinite("psd_fixed_rank", n, r, Euclidean(r))}
}

// String returns a name such as "psd_fixed_rank 10x2".
func (m *PSDFixedRank) String() string { return fmt.Sprintf("psd_fixed_rank %dx%d", m.n, m.r) }

// Exp writes Y + V. It fails where the line from Y to Y + V leaves the matrices of rank r, or its end is not
// finite.
func (m *PSDFixedRank) Exp(dst, x, v []float64) error {
	if err := m.Retract(dst, x, v); err != nil {
		return err
	}
	w := m.pool.Get().(*factorSpace)
	defer m.pool.Put(w)
	// A horizontal line loses rank where Y'(Y + tV), which is symmetric, does.
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, m.wrap(x), m.wrap(dst), 0, matrix(m.r, m.r, w.eig.A))
	if !w.eig.Factorize() || !(w.eig.Values[0] > 0) {
		return failed(m, "exponential", errors.New("the line from y to y + v leaves the matrices of rank r"))
	}
	return nil
}

// align writes into w.a the representative YQ of y that is nearest to x.
func (m *PSDFixedRank) align(w *factorSpace, x, y []float64) error {
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, m.wrap(y), m.wrap(x), 0, w.s)
	if err := checkFinite(w.s.Data); err != nil {
		return errNoPoint
	}
	if !w.frame.nearest.Factor(w.t.Data, w.s.Data) {
		return errNoSingularValues
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, m.wrap(y), w.t, 0, m.wrap(w.a))
	return nil
}

// Log writes ZQ - Y, where Z is the factor of the other point and Q the orthogonal matrix that brings ZQ nearest
// to Y. It fails where a point is not finite.
func (m *PSDFixedRank) Log(dst, x, y []float64) error {
	mustFit(m.Size(), dst, x, y)
	w := m.pool.Get().(*factorSpace)
	defer m.pool.Put(w)
	if err := m.align(w, x, y); err != nil {
		return failed(m, "logarithm", err)
	}
	floats.SubTo(dst, w.a, x)
	return nil
}

// Distance is the length of the logarithm, the distance of Bures and Wasserstein.
func (m *PSDFixedRank) Distance(x, y []float64) (float64, error) {
	mustFit(m.Size(), x, y)
	w := m.pool.Get().(*factorSpace)
	defer m.pool.Put(w)
	if err := m.align(w, x, y); err != nil {
		return 0, failed(m, "distance", err)
	}
	return floats.Distance(x, w.a, 2), nil
}

// Violation is 0, or +Inf where Y is not finite.
func (m *PSDFixedRank) Violation(x []float64) float64 {
	mustFit(m.Size(), x)
	if nonFinite(x) >= 0 {
		return math.Inf(1)
	}
	return 0
}

// Restore fails where Y is not finite.
func (m *PSDFixedRank) Restore(x []float64) error {
	mustFit(m.Size(), x)
	return failed(m, "restoring x", checkFinite(x))
}
