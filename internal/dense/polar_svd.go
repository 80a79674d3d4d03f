package dense

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// NearestOrthonormal finds a matrix with orthonormal columns that is nearest to an n x m
// matrix, n >= m. At rank m it is the polar factor; at a lower rank it is one of several.
// Matrices are held by columns, as m rows of length n.
//
// With A' = LQ and the singular value decomposition L = U S V', the factor is U V' Q,
// where Q is never formed. Unlike [Polar] it accepts singular matrices, but takes twice
// the time. For m > 32 it runs in blocks, on several goroutines.
type NearestOrthonormal struct {
	m, n             int
	l, u, vt         blas64.General // m x m
	tau, sigma, work []float64
}

// NewNearestOrthonormal returns a NearestOrthonormal for n x m matrices.
func NewNearestOrthonormal(m, n int) *NearestOrthonormal {
	square := func() blas64.General {
		return blas64.General{Rows: m, Cols: m, Stride: m, Data: make([]float64, m*m)}
	}
	s := &NearestOrthonormal{m: m, n: n, l: square(), u: square(), vt: square(), tau: make([]float64, m), sigma: make([]float64, m)}
	var size [1]float64
	var longest float64
	a := blas64.General{Rows: m, Cols: n, Stride: n, Data: make([]float64, m*n)}
	for _, ask := range []func(){
		func() { lapack64.Gelqf(a, s.tau, size[:], -1) },
		func() { lapack64.Ormlq(blas.Right, blas.NoTrans, a, s.tau, a, size[:], -1) },
		func() { lapack64.Gesvd(lapack.SVDAll, lapack.SVDAll, s.l, s.u, s.vt, s.sigma, size[:], -1) },
	} {
		ask()
		longest = math.Max(longest, size[0])
	}
	s.work = make([]float64, int(longest))
	return s
}

// Factor writes the nearest matrix into q, and overwrites a. The entries of a and their
// squares must be finite. It returns false if the singular values do not converge.
func (s *NearestOrthonormal) Factor(q, a []float64) bool {
	m := s.m
	at := blas64.General{Rows: m, Cols: s.n, Stride: s.n, Data: a}
	lapack64.Gelqf(at, s.tau, s.work, len(s.work))
	clear(s.l.Data)
	for i := range m {
		copy(s.l.Data[i*m:i*m+i+1], a[i*s.n:])
	}
	if !lapack64.Gesvd(lapack.SVDAll, lapack.SVDAll, s.l, s.u, s.vt, s.sigma, s.work, len(s.work)) {
		return false
	}
	clear(q)
	to := blas64.General{Rows: m, Cols: s.n, Stride: s.n, Data: q}
	uv := to
	uv.Cols = m
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, s.u, s.vt, 0, uv)
	lapack64.Ormlq(blas.Right, blas.NoTrans, at, s.tau, to, s.work, len(s.work))
	return true
}
