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
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// FixedRank is the set of m x n matrices W of rank r with the inner product trace(A'B) of R^{m x n}. A point is W = U
// S V', given by the factors U (m x r) and V (n x r) with orthonormal columns and the invertible S (r x r): their
// entries, row-major, one factor after the other. (UP, P'SQ, VQ) with orthogonal P and Q represents the same matrix.
//
// A tangent vector is a velocity (A, B, C) of the factors (U, S, V) with U'A = 0
// and V'C = 0. It moves W by
//
//	A S V' + U B V' + U S C',
//
// whose inner products are those of tangent vectors.
//
// A cost is a function of the factors that depends on W only. If G is the gradient of a function of W,
// [FixedRank.Factored] gives that of the factors.
//
// Source: B. Vandereycken, Low-rank matrix completion by Riemannian optimization,
// SIAM J. Optim. 23 (2013) 1214-1236.
type FixedRank struct {
	m, n, r int
	pairs   sync.Pool
}

// NewFixedRank returns the m x n matrices of rank r, for 1 <= r <= min(m, n). It
// panics for other shapes.
func NewFixedRank(m, n, r int) *FixedRank {
	if r < 1 || r > min(m, n) {
		panic(fmt.Sprintf("manifolds: fixed rank %dx%d: the rank must be 1 to %d, not %d", m, n, min(m, n), r))
	}
	return &FixedRank{m: m, n: n, r: r, pairs: sync.Pool{New: func() any { return newFactors(m, n, r) }}}
}

// String returns a name such as "200x100 of rank 4".
func (m *FixedRank) String() string { return fmt.Sprintf("%dx%d of rank %d", m.m, m.n, m.r) }

// Size is (m + n + r) r.
func (m *FixedRank) Size() int { return (m.m + m.n + m.r) * m.r }

// Dim is (m + n - r) r.
func (m *FixedRank) Dim() int { return (m.m + m.n - m.r) * m.r }

// Parts returns the entries of the factors within x, which they share.
func (m *FixedRank) Parts(x []float64) (u, s, v []float64) {
	mustFit(m.Size(), x)
	a, b := m.m*m.r, (m.m+m.r)*m.r
	return x[:a:a], x[a:b:b], x[b:]
}

// take gives scratch space that holds the point x.
func (m *FixedRank) take(x []float64) *factors {
	f := m.pairs.Get().(*factors)
	u, s, v := m.Parts(x)
	load(f.left.base, u)
	load(f.right.base, v)
	copy(f.s.Data, s)
	return f
}

// put stores the x of both sides and t.
func (m *FixedRank) put(dst []float64, f *factors) {
	u, s, v := m.Parts(dst)
	store(u, f.left.x)
	store(v, f.right.x)
	copy(s, f.t.Data)
}

// vector loads a vector into the x of both sides and t.
func (m *FixedRank) vector(f *factors, v []float64) {
	vu, vs, vv := m.Parts(v)
	load(f.left.x, vu)
	load(f.right.x, vv)
	copy(f.t.Data, vs)
}

// Project writes the tangent vector that moves W in the same way as the velocities v of the factors: (I - UU')v_U,
// v_S + U'v_U S + S v_V'V, (I - VV')v_V.
func (m *FixedRank) Project(dst, x, v []float64) {
	mustFit(m.Size(), dst, x, v)
	f := m.take(x)
	defer m.pairs.Put(f)
	m.vector(f, v)
	gram(f.left.g, f.left.base, f.left.x)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.left.g, f.s, 1, f.t)
	addProduct(f.left.x, -1, f.left.base, f.left.g)
	gram(f.right.g, f.right.x, f.right.base)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.s, f.right.g, 1, f.t)
	f.right.horizontal(f.right.x, f.right.base)
	m.put(dst, f)
}

// Inner is the inner product trace(A'B) of the motions of W,
// trace(S'a_U'b_U S) + trace(a_S'b_S) + trace(S a_V'b_V S').
func (m *FixedRank) Inner(x, a, b []float64) float64 {
	mustFit(m.Size(), x, a, b)
	f := m.take(x)
	defer m.pairs.Put(f)
	aU, aS, aV := m.Parts(a)
	bU, bS, bV := m.Parts(b)
	return floats.Dot(aS, bS) + f.left.inner(aU, bU, f.s, blas.NoTrans) + f.right.inner(aV, bV, f.s, blas.Trans)
}

// Gradient writes (I - UU')g_U (SS')^{-1}, g_S, (I - VV')g_V (S'S)^{-1}. The result
// is not finite where S is singular.
func (m *FixedRank) Gradient(dst, x, g []float64) {
	mustFit(m.Size(), dst, x, g)
	f := m.take(x)
	defer m.pairs.Put(f)
	m.vector(f, g)
	f.factorize()
	f.divide(f.left.x, blas.Trans)
	f.divide(f.left.x, blas.NoTrans)
	f.left.horizontal(f.left.x, f.left.base)
	f.divide(f.right.x, blas.NoTrans)
	f.divide(f.right.x, blas.Trans)
	f.right.horizontal(f.right.x, f.right.base)
	m.put(dst, f)
}

// errRank says that a matrix has a lower rank.
var errRank = errors.New("the rank falls below that of the manifold")

// Retract writes the matrix of rank r nearest to W + W', with W' the motion of W, by the singular value decomposition
// of a 2r x 2r matrix, in the factors that move horizontally. It agrees with the geodesic to second order. It fails
// if the step is not finite or the result has a rank below r.
func (m *FixedRank) Retract(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	f := m.take(x)
	defer m.pairs.Put(f)
	m.vector(f, v)
	f.left.times(f.s, blas.NoTrans)
	f.right.times(f.s, blas.Trans)
	for _, s := range []*side{f.left, f.right} {
		if err := s.span(); err != nil {
			return failed(m, "retraction", err)
		}
	}
	f.assemble()
	if err := checkFinite(f.core.Data); err != nil {
		return failed(m, "retraction", fmt.Errorf("step: %w", err))
	}
	if !lapack64.Gesvd(lapack.SVDAll, lapack.SVDAll, f.core, f.coreU, f.coreV, f.sigma, f.work, len(f.work)) {
		return failed(m, "retraction", errNoSingularValues)
	}
	if !(f.sigma[f.r-1] > leastSingular*f.sigma[0]) {
		return failed(m, "retraction", errRank)
	}
	f.truncate()
	m.put(dst, f)
	return failed(m, "retraction", checkFinite(dst))
}

// RetractionOrder is 2.
func (*FixedRank) RetractionOrder() int { return 2 }

// Transport writes the orthogonal projection of the motion of W on the tangent
// space at y, in the factors of y. The result is not finite where the S of y is
// singular.
func (m *FixedRank) Transport(dst, x, y, v []float64) {
	mustFit(m.Size(), dst, x, y, v)
	f := m.take(x)
	defer m.pairs.Put(f)
	yU, yS, yV := m.Parts(y)
	m.vector(f, v)
	l, r := f.left, f.right
	load(l.a, yU)
	load(r.a, yV)
	// W'y_V = v_U S (V'y_V) + U (v_S V'y_V + S v_V'y_V), and W'' y_U likewise.
	gram(r.g, r.base, r.a)
	gram(r.u, r.x, r.a)
	gram(l.g, l.base, l.a)
	gram(l.u, l.x, l.a)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.s, r.g, 0, r.h)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.t, r.g, 0, r.t)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.s, r.u, 1, r.t)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, f.s, l.g, 0, l.h)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, f.t, l.g, 0, l.t)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, f.s, l.u, 1, l.t)
	l.combine(r.h, r.t)
	r.combine(l.h, l.t)
	gram(f.t, l.a, l.y)
	copy(f.s.Data, yS)
	f.factorize()
	l.x, l.y = l.y, l.x
	r.x, r.y = r.y, r.x
	f.divide(l.x, blas.NoTrans)
	f.divide(r.x, blas.Trans)
	l.horizontal(l.x, l.a)
	r.horizontal(r.x, r.a)
	m.put(dst, f)
}

// RiemannianHessian writes the projection of the second derivative of a cost of W,
// with the curvature of the manifold: for the gradient G of that cost and its
// derivative G',
//
//	(I - UU')(GV)' S^{-1},  U'G'V,  (I - VV')(G'U)' S^{-T}
//
// where (GV)' and (G'U)' are derivatives of products along v. All of them follow
// from the derivatives g and h in the factors. The result is not finite where S is
// singular.
//
// Source: Vandereycken (2013), section 2.3 and appendix A.
func (m *FixedRank) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(m.Size(), dst, x, g, h, v)
	f := m.take(x)
	defer m.pairs.Put(f)
	f.factorize()
	gU, _, gV := m.Parts(g)
	hU, hS, hV := m.Parts(h)
	vU, vS, vV := m.Parts(v)
	l, r := f.left, f.right
	copy(f.t.Data, vS)
	transposed(r.h, f.t)
	// a = GV = g_U S^{-T}, x = (h_U - a v_S') S^{-T}
	load(l.a, gU)
	f.divide(l.a, blas.Trans)
	load(l.x, hU)
	addProduct(l.x, -1, l.a, r.h)
	f.divide(l.x, blas.Trans)
	load(r.a, gV)
	f.divide(r.a, blas.NoTrans)
	load(r.x, hV)
	addProduct(r.x, -1, r.a, f.t)
	f.divide(r.x, blas.NoTrans)
	// U'G'V = h_S - v_U'GV - (G'U)'v_V
	load(l.b, vU)
	load(r.b, vV)
	copy(f.t.Data, hS)
	gram(l.g, l.b, l.a)
	floats.Sub(f.t.Data, l.g.Data)
	gram(r.g, r.a, r.b)
	floats.Sub(f.t.Data, r.g.Data)
	f.divide(l.x, blas.NoTrans)
	f.divide(r.x, blas.Trans)
	l.horizontal(l.x, l.base)
	r.horizontal(r.x, r.base)
	m.put(dst, f)
}

// Factored writes the gradient in the factors, GV S', U'GV, G'U S, from the
// products gv = GV (m x r) and gu = G'U (n x r) of the gradient G, at W, of
// a function of m x n matrices.
func (m *FixedRank) Factored(dst, x, gv, gu []float64) {
	mustFit(m.Size(), dst, x)
	mustFit(m.m*m.r, gv)
	mustFit(m.n*m.r, gu)
	f := m.take(x)
	defer m.pairs.Put(f)
	load(f.left.x, gv)
	load(f.right.x, gu)
	gram(f.t, f.left.base, f.left.x)
	f.left.times(f.s, blas.Trans)
	f.right.times(f.s, blas.NoTrans)
	m.put(dst, f)
}

// Matrix writes U S V', an m x n matrix.
func (m *FixedRank) Matrix(dst, x []float64) {
	mustFit(m.m*m.n, dst)
	u, s, v := m.Parts(x)
	us := zeros(m.m, m.r)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(m.m, m.r, u), matrix(m.r, m.r, s), 0, us)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, us, matrix(m.n, m.r, v), 0, matrix(m.m, m.n, dst))
}

// Truncate writes the point nearest to the m x n matrix w, its truncated singular
// value decomposition with a diagonal S: a start for a run. It fails where w is not
// finite or has a rank below r.
//
// Source: C. Eckart, G. Young, The approximation of one matrix by another of lower
// rank, Psychometrika 1 (1936) 211-218.
func (m *FixedRank) Truncate(dst, w []float64) error {
	mustFit(m.m*m.n, w)
	if err := checkFinite(w); err != nil {
		return failed(m, "truncation", err)
	}
	k := min(m.m, m.n)
	a, left, right, sigma := zeros(m.m, m.n), zeros(m.m, k), zeros(k, m.n), make([]float64, k)
	copy(a.Data, w)
	size := []float64{0}
	lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, a, left, right, sigma, size, -1)
	work := make([]float64, int(size[0]))
	if !lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, a, left, right, sigma, work, len(work)) {
		return failed(m, "truncation", errNoSingularValues)
	}
	if !(sigma[m.r-1] > leastSingular*sigma[0]) {
		return failed(m, "truncation", errRank)
	}
	u, s, v := m.Parts(dst)
	clear(s)
	for j := range m.r {
		s[j*m.r+j] = sigma[j]
		for i := range m.m {
			u[i*m.r+j] = left.Data[i*k+j]
		}
		for i := range m.n {
			v[i*m.r+j] = right.Data[j*m.n+i]
		}
	}
	return nil
}

// Rand draws Haar distributed U and V, and a diagonal S of entries exp(z/2),
// z standard normal.
func (m *FixedRank) Rand(dst []float64, rng *rand.Rand) {
	mustFit(m.Size(), dst)
	f := m.pairs.Get().(*factors)
	defer m.pairs.Put(f)
	u, s, v := m.Parts(dst)
	f.left.rand(u, rng)
	f.right.rand(v, rng)
	clear(s)
	for i := range m.r {
		s[i*m.r+i] = math.Exp(rng.NormFloat64() / 2)
	}
}

// Same writes (UP, P'SQ, VQ) with uniformly distributed orthogonal P and Q.
func (m *FixedRank) Same(dst, x []float64, rng *rand.Rand) {
	mustFit(m.Size(), dst, x)
	f := m.take(x)
	defer m.pairs.Put(f)
	m.vector(f, x)
	small := newFrame(m.r, m.r)
	small.rand(f.left.turn.Data, rng)
	small.rand(f.right.turn.Data, rng)
	f.left.times(f.left.turn, blas.NoTrans)
	f.right.times(f.right.turn, blas.NoTrans)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, f.left.turn, f.s, 0, f.lu)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.lu, f.right.turn, 0, f.t)
	m.put(dst, f)
}

// Violation is the largest entry of |U'U - I| and |V'V - I|, or +Inf where the
// point is not finite or S is singular to working precision.
func (m *FixedRank) Violation(x []float64) float64 {
	if nonFinite(x) >= 0 {
		mustFit(m.Size(), x)
		return math.Inf(1)
	}
	f := m.take(x)
	defer m.pairs.Put(f)
	copy(f.left.g.Data, f.s.Data)
	if !f.left.small() || !(f.left.sigma[m.r-1] > leastSingular*f.left.sigma[0]) {
		return math.Inf(1)
	}
	gram(f.left.g, f.left.base, f.left.base)
	gram(f.right.g, f.right.base, f.right.base)
	off := math.Max(distanceToIdentity(f.left.g), distanceToIdentity(f.right.g))
	if math.IsNaN(off) {
		return math.Inf(1)
	}
	return off
}

// Restore makes U and V orthonormal, by their polar factors, and changes S so that
// W stays. It fails where the point is not finite or the rank is below r.
func (m *FixedRank) Restore(x []float64) error {
	mustFit(m.Size(), x)
	if err := checkFinite(x); err != nil {
		return failed(m, "restoring", err)
	}
	f := m.take(x)
	defer m.pairs.Put(f)
	for _, s := range []*side{f.left, f.right} {
		copy(s.a.Data, s.base.Data)
		if err := s.polar(); err != nil {
			return failed(m, "restoring", err)
		}
		copy(s.x.Data, s.b.Data)
		gram(s.g, s.b, s.base) // U = B g
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.left.g, f.s, 0, f.lu)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, f.lu, f.right.g, 0, f.t)
	m.put(x, f)
	if math.IsInf(m.Violation(x), 1) {
		return failed(m, "restoring", errRank)
	}
	return nil
}
