package manifolds

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/scqm/scqm/internal/dense"
)

// factors is scratch space for the factors of a matrix.
type factors struct {
	r      int
	left   *side
	right  *side
	s, t   blas64.General // r x r
	lu     blas64.General
	pivots []int
	core   blas64.General // 2r x 2r, and its decomposition
	coreU  blas64.General
	coreV  blas64.General
	sigma  []float64
	work   []float64
}

// side is scratch space for the left or right factor, base; matrices are held by columns.
type side struct {
	*frame
	base, x, y blas64.General // r x n
	turn       blas64.General // r x r
	square     *dense.NearestOrthonormal
}

func newFactors(m, n, r int) *factors {
	newSide := func(n int) *side {
		return &side{
			frame: newFrame(n, r), base: zeros(r, n), x: zeros(r, n), y: zeros(r, n), turn: zeros(r, r),
			square: dense.NewNearestOrthonormal(r, r),
		}
	}
	f := &factors{
		r: r, left: newSide(m), right: newSide(n), s: zeros(r, r), t: zeros(r, r), lu: zeros(r, r), pivots: make([]int, r),
		core: zeros(2*r, 2*r), coreU: zeros(2*r, 2*r), coreV: zeros(2*r, 2*r), sigma: make([]float64, 2*r),
	}
	var size [1]float64
	lapack64.Gesvd(lapack.SVDAll, lapack.SVDAll, f.core, f.coreU, f.coreV, f.sigma, size[:], -1)
	f.work = make([]float64, int(size[0]))
	return f
}

// transposed writes s' into dst.
func transposed(dst, s blas64.General) {
	for i := range s.Rows {
		for j := range s.Cols {
			dst.Data[j*dst.Stride+i] = s.Data[i*s.Stride+j]
		}
	}
}

// times replaces x by x s, or by x s' if transposed, using y.
func (f *side) times(s blas64.General, t blas.Transpose) {
	if t == blas.Trans {
		transposed(f.h, s)
		s = f.h
	}
	clear(f.y.Data)
	addProduct(f.y, 1, f.x, s)
	f.x, f.y = f.y, f.x
}

// factorize prepares divide and reports whether S is invertible.
func (f *factors) factorize() bool {
	copy(f.lu.Data, f.s.Data)
	return lapack64.Getrf(f.lu, f.pivots)
}

// divide replaces the held matrix x by x S^{-1}, or by x S^{-T} if transposed.
func (f *factors) divide(x blas64.General, t blas.Transpose) {
	// What is held is x'.
	by := blas.Trans
	if t == blas.Trans {
		by = blas.NoTrans
	}
	lapack64.Getrs(by, f.lu, x, f.pivots)
}

// inner is the sum of the products of the entries of as and bs, or of as' and bs'.
func (f *side) inner(a, b []float64, s blas64.General, t blas.Transpose) float64 {
	load(f.x, a)
	f.times(s, t)
	copy(f.c.Data, f.x.Data)
	load(f.x, b)
	f.times(s, t)
	return floats.Dot(f.c.Data, f.x.Data)
}

// span decomposes x = c R, with orthonormal columns of c, or zero columns if the rank of x is lower, and R in f.h.
// The span of c is orthogonal to base, as x is.
func (f *side) span() error {
	f.a, f.x = f.x, f.a
	copy(f.b.Data, f.a.Data)
	if err := f.qf(); err != nil {
		return err
	}
	gram(f.g, f.a, f.b)
	if nonFinite(f.g.Data) >= 0 || !f.small() {
		return errNoSingularValues
	}
	clear(f.c.Data)
	addProduct(f.c, 1, f.a, f.u)
	for i, sigma := range f.sigma {
		floats.ScaleTo(row(f.h, i), sigma, row(f.t, i))
		if !(sigma > leastSingular*f.sigma[0]) {
			clear(row(f.c, i))
			clear(row(f.h, i))
		}
	}
	return nil
}

// assemble writes [s + t, R_V^T; R_U, 0] into core, with the matrices R of the left and right side from span.
func (f *factors) assemble() {
	r := f.r
	clear(f.core.Data)
	for i := range r {
		for j := range r {
			f.core.Data[i*2*r+j] = f.s.Data[i*r+j] + f.t.Data[i*r+j]
			f.core.Data[i*2*r+r+j] = f.right.h.Data[j*r+i]
			f.core.Data[(r+i)*2*r+j] = f.left.h.Data[i*r+j]
		}
	}
}

// truncate makes the factors of the r largest singular values of core, each rotated so that it moves horizontally
// from base.
func (f *factors) truncate() {
	r := f.r
	for i := range r {
		for j := range r {
			f.left.g.Data[i*r+j], f.left.h.Data[i*r+j] = f.coreU.Data[i*2*r+j], f.coreU.Data[(r+i)*2*r+j]
			f.right.g.Data[i*r+j], f.right.h.Data[i*r+j] = f.coreV.Data[j*2*r+i], f.coreV.Data[j*2*r+r+i]
		}
	}
	f.left.align()
	f.right.align()
	for i := range r {
		floats.MulTo(row(f.s, i), row(f.left.turn, i), f.sigma[:r])
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, f.s, f.right.turn, 0, f.t)
}

// align writes (base g + c h) P' into x, with P, kept in turn, the orthonormal
// polar factor of g.
func (f *side) align() {
	copy(f.u.Data, f.g.Data)
	f.square.Factor(f.turn.Data, f.u.Data)
	clear(f.x.Data)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, f.g, f.turn, 0, f.u)
	addProduct(f.x, 1, f.base, f.u)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, f.h, f.turn, 0, f.u)
	addProduct(f.x, 1, f.c, f.u)
}

// combine writes x s + base t into y.
func (f *side) combine(s, t blas64.General) {
	clear(f.y.Data)
	addProduct(f.y, 1, f.x, s)
	addProduct(f.y, 1, f.base, t)
}

// leastSingular is the ratio of the least to the largest singular value of S below which the rank counts as lower.
const leastSingular = 0x1p-50
