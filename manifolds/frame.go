package manifolds

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/scqm/scqm/internal/dense"
)

// tall is the set of n x p matrices X with X'X = I, with scratch space: what [Stiefel] and [Grassmann] have in
// common.
type tall struct {
	name   string
	n, p   int
	frames sync.Pool
}

// init makes the set; it panics unless 1 <= p <= n.
func (m *tall) init(name string, n, p int) {
	if p < 1 || p > n {
		panic(fmt.Sprintf("manifolds: %s %dx%d: the shape must have 1 <= columns <= rows", name, n, p))
	}
	m.name, m.n, m.p = name, n, p
	m.frames.New = func() any { return newFrame(n, p) }
}

func (m *tall) frame() *frame { return m.frames.Get().(*frame) }

// String returns a name such as "stiefel 784x5".
func (m *tall) String() string { return fmt.Sprintf("%s %dx%d", m.name, m.n, m.p) }

// Size is np.
func (m *tall) Size() int { return m.n * m.p }

// Rand draws a point from the uniform (Haar) distribution: the factor Q, with positive diag(R), of a matrix of
// independent normal entries. St(n, n) is O(n), whose two components have the determinants 1 and -1. Rand draws
// points of both, and a run stays in the component of its start. [Rotations] is the component of determinant 1.
//
// Source: F. Mezzadri, How to generate random matrices from the classical
// compact groups, Notices of the AMS 54 (2007) 592-604.
func (m *tall) Rand(dst []float64, rng *rand.Rand) {
	mustFit(m.Size(), dst)
	f := m.frame()
	defer m.frames.Put(f)
	f.rand(dst, rng)
}

// Violation is the largest entry of |X'X - I|, or +Inf where X is not finite.
func (m *tall) Violation(x []float64) float64 {
	mustFit(m.Size(), x)
	f := m.frame()
	defer m.frames.Put(f)
	load(f.a, x)
	gram(f.g, f.a, f.a)
	if nonFinite(f.g.Data) >= 0 {
		return math.Inf(1)
	}
	return distanceToIdentity(f.g)
}

// Restore replaces X by its polar factor, the nearest point; where the rank of X is below p, by one of the nearest
// points. It fails where X is not finite.
func (m *tall) Restore(x []float64) error {
	mustFit(m.Size(), x)
	f := m.frame()
	defer m.frames.Put(f)
	return failed(m, "restoring x", f.restore(x))
}

// frame is scratch space for the algebra of n x p matrices with n >= p, which
// it holds transposed: the columns are contiguous, so that products with tall
// matrices are dot products and updates of long vectors. In the comments A is
// the n x p matrix whose columns are the rows of f.a. The small matrices are
// p x p, row-major.
type frame struct {
	n, p             int
	a, b, c          blas64.General // p x n
	g, h, u, t, s    blas64.General // p x p
	tau, sigma, work []float64
	nearest          *dense.NearestOrthonormal
}

func newFrame(n, p int) *frame {
	f := &frame{
		n: n, p: p,
		a: zeros(p, n), b: zeros(p, n), c: zeros(p, n),
		g: zeros(p, p), h: zeros(p, p), u: zeros(p, p), t: zeros(p, p), s: zeros(p, p),
		tau: make([]float64, p), sigma: make([]float64, p),
		nearest: dense.NewNearestOrthonormal(p, n),
	}
	f.work = make([]float64, f.workspace())
	return f
}

// workspace asks lapack for the longest workspace that the factorizations want.
func (f *frame) workspace() int {
	var size [1]float64
	var longest float64
	ask := func(query func()) {
		query()
		longest = math.Max(longest, size[0])
	}
	ask(func() { lapack64.Gelqf(f.a, f.tau, size[:], -1) })
	ask(func() { lapack64.Orglq(f.a, f.tau, size[:], -1) })
	ask(func() { lapack64.Gesvd(lapack.SVDAll, lapack.SVDAll, f.g, f.u, f.t, f.sigma, size[:], -1) })
	return int(longest)
}

// matrix returns the matrix whose entries are data, row by row.
func matrix(rows, cols int, data []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

// zeros returns a matrix of zeros.
func zeros(rows, cols int) blas64.General { return matrix(rows, cols, make([]float64, rows*cols)) }

// row returns row i of m: column i of an n x p matrix that a frame holds.
func row(m blas64.General, i int) []float64 {
	return m.Data[i*m.Stride : i*m.Stride+m.Cols]
}

// load copies the row-major n x p matrix src into dst, transposed.
func load(dst blas64.General, src []float64) {
	for i := range dst.Rows {
		column := row(dst, i)
		for k := range column {
			column[k] = src[k*dst.Rows+i]
		}
	}
}

// store is the inverse of load.
func store(dst []float64, src blas64.General) {
	for i := range src.Rows {
		for k, v := range row(src, i) {
			dst[k*src.Rows+i] = v
		}
	}
}

// gram writes A'B into dst.
func gram(dst, a, b blas64.General) {
	for i := range a.Rows {
		ai, products := row(a, i), row(dst, i)
		for j := range products {
			products[j] = floats.Dot(ai, row(b, j))
		}
	}
}

// symmetrize replaces s by (s + s')/2.
func symmetrize(s blas64.General) {
	for i := range s.Rows {
		for j := range i {
			mean := (s.Data[i*s.Stride+j] + s.Data[j*s.Stride+i]) / 2
			s.Data[i*s.Stride+j], s.Data[j*s.Stride+i] = mean, mean
		}
	}
}

// addProduct adds alpha A s to B.
func addProduct(b blas64.General, alpha float64, a, s blas64.General) {
	for j := range b.Rows {
		bj := row(b, j)
		for i := range a.Rows {
			floats.AddScaled(bj, alpha*s.Data[i*s.Stride+j], row(a, i))
		}
	}
}

// projectTangent replaces B by its projection B - A sym(A'B) on the tangent
// space of the Stiefel manifold at A, using f.g.
func (f *frame) projectTangent(b, a blas64.General) {
	gram(f.g, a, b)
	symmetrize(f.g)
	addProduct(b, -1, a, f.g)
}

// horizontal replaces B by B - A (A'B), using f.g.
func (f *frame) horizontal(b, a blas64.General) {
	gram(f.g, a, b)
	addProduct(b, -1, a, f.g)
}

// rand draws a Haar matrix through A.
func (f *frame) rand(dst []float64, rng *rand.Rand) {
	Euclidean(len(dst)).Rand(dst, rng)
	load(f.a, dst)
	if err := f.qf(); err != nil {
		panic(err) // normal deviates are finite
	}
	store(dst, f.a)
}

// condition prepares A for a factorization that depends on its direction only. It scales A by a power of two if
// squares of its entries would overflow. It returns an error if an entry is not finite.
func (f *frame) condition() error {
	if floats.Dot(f.a.Data, f.a.Data) <= math.MaxFloat64 {
		return nil
	}
	if i := nonFinite(f.a.Data); i >= 0 {
		return fmt.Errorf("entry (%d, %d) is %g", i%f.n, i/f.n, f.a.Data[i])
	}
	_, e := math.Frexp(floats.Norm(f.a.Data, math.Inf(1)))
	floats.Scale(math.Ldexp(1, -e), f.a.Data)
	return nil
}

// qf replaces A by the factor Q of its thin QR factorization with a diagonal of
// R that is not negative. The columns of Q are orthonormal to rounding, whatever
// the rank of A.
func (f *frame) qf() error {
	if err := f.condition(); err != nil {
		return err
	}
	// A = QR is A' = R'Q', the LQ factorization of what is stored.
	lapack64.Gelqf(f.a, f.tau, f.work, len(f.work))
	for i := range f.p {
		f.sigma[i] = f.a.Data[i*f.n+i]
	}
	lapack64.Orglq(f.a, f.tau, f.work, len(f.work))
	for i, r := range f.sigma {
		if r < 0 {
			floats.Scale(-1, row(f.a, i))
		}
	}
	return nil
}

// polar writes into B the orthonormal polar factor of A: the nearest matrix
// with orthonormal columns, or one of them where the rank of A is below p. A is
// lost.
func (f *frame) polar() error {
	if err := f.condition(); err != nil {
		return err
	}
	if !f.nearest.Factor(f.b.Data, f.a.Data) {
		return errors.New("the singular values did not converge")
	}
	return nil
}

// retractPolar writes the polar factor of X + V into dst.
func (f *frame) retractPolar(dst, x, v []float64) error {
	load(f.a, x)
	load(f.b, v)
	floats.Add(f.a.Data, f.b.Data)
	if err := f.polar(); err != nil {
		return err
	}
	store(dst, f.b)
	return nil
}

// restore replaces X by its polar factor.
func (f *frame) restore(x []float64) error {
	load(f.a, x)
	if err := f.polar(); err != nil {
		return err
	}
	store(x, f.b)
	return nil
}

// distanceToIdentity is the largest entry of |m - I|.
func distanceToIdentity(m blas64.General) float64 {
	var worst float64
	for i := range m.Rows {
		for j, v := range row(m, i) {
			if i == j {
				v--
			}
			worst = math.Max(worst, math.Abs(v))
		}
	}
	return worst
}

// turned, for the Hessian, leaves H - V sym(X'G) in B and X in A.
func (f *frame) turned(x, g, h, v []float64) {
	load(f.a, x)
	load(f.b, g)
	gram(f.h, f.a, f.b)
	symmetrize(f.h)
	load(f.b, h)
	load(f.c, v)
	addProduct(f.b, -1, f.c, f.h)
}
