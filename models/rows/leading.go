package rows

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/internal/dense"
)

const (
	// directEigen is the order up to which all eigenvectors are computed.
	directEigen = 160
	// spareVectors are iterated beside the wanted ones: convergence is governed
	// by the first eigenvalue left out.
	spareVectors = 12
	// maxSubspace bounds the iterations, eigenPrecision is the residual, in
	// units of the largest eigenvalue, at which they end.
	maxSubspace    = 300
	eigenPrecision = 1e-11
)

// leadingEigenvectors returns the k largest eigenvalues of the positive
// semidefinite n x n matrix a, descending, and their eigenvectors as rows.
// Large matrices are handled by orthogonal iteration with Rayleigh-Ritz
// projection (Golub and Van Loan, Matrix Computations, section 8.2), for k
// products with a per step instead of all eigenvectors.
func leadingEigenvectors(ctx context.Context, a []float64, n, k int) (values, vectors []float64, err error) {
	if n > directEigen && k+spareVectors < n/2 {
		if values, vectors, ok := orthogonalIteration(ctx, a, n, k); ok {
			return values, vectors, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("scqm: principal components: %w", err)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, a), true) {
		return nil, nil, fmt.Errorf("scqm: principal components: eigenvalues did not converge: %w", ErrInput)
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	values, vectors = make([]float64, k), make([]float64, k*n)
	for i, all := 0, eigen.Values(nil); i < k; i++ { // they ascend
		values[i] = math.Max(all[n-1-i], 0)
		mat.Col(vectors[i*n:(i+1)*n], n-1-i, &v)
	}
	return values, vectors, nil
}

func orthogonalIteration(ctx context.Context, a []float64, n, k int) (values, vectors []float64, ok bool) {
	l := k + spareVectors
	rng := rand.New(rand.NewPCG(1, 1)) // any start does, but always the same
	q, z := make([]float64, l*n), make([]float64, l*n)
	for i := range q {
		q[i] = rng.NormFloat64()
	}
	var trace float64
	for i := range n {
		trace += a[i*n+i]
	}
	general := func(x []float64) blas64.General { return blas64.General{Rows: l, Cols: n, Stride: n, Data: x} }
	matrix := blas64.General{Rows: n, Cols: n, Stride: n, Data: a}
	ritz := make([]float64, l*l)
	for step := 0; step < maxSubspace && ctx.Err() == nil; step++ {
		dense.OrthonormalizeRows(q, n)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(q), matrix, 0, general(z))
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, general(z), general(q), 0, blas64.General{Rows: l, Cols: l, Stride: l, Data: ritz})
		var ok bool
		if values, ok = rotateToRitz(q, z, ritz, l, n); !ok {
			return nil, nil, false
		}
		if ritzResidual(q, z, values, n, k) <= eigenPrecision*values[0] {
			return values[:k], q[:k*n], true
		}
		// A small multiple of q keeps rows independent where a has no more rank.
		floats.AddScaled(z, 1e-9*trace, q)
		q, z = z, q
	}
	return nil, nil, false
}

// rotateToRitz rotates the rows of q and of z = qa to the eigenvectors of qaq'
// and returns its eigenvalues, descending.
func rotateToRitz(q, z, ritz []float64, l, n int) ([]float64, bool) {
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(l, ritz), true) {
		return nil, false
	}
	var v, rotated mat.Dense
	eigen.VectorsTo(&v)
	descending := mat.NewDense(l, l, nil)
	values := make([]float64, l)
	for i, all := 0, eigen.Values(nil); i < l; i++ {
		values[i] = all[l-1-i]
		descending.SetRow(i, mat.Col(nil, l-1-i, &v))
	}
	for _, x := range [][]float64{q, z} {
		rotated.Mul(descending, mat.NewDense(l, n, x))
		copy(x, rotated.RawMatrix().Data)
	}
	return values, true
}

// ritzResidual is the largest |a q_i - lambda_i q_i| of the first k pairs.
func ritzResidual(q, z, values []float64, n, k int) float64 {
	var worst float64
	r := make([]float64, n)
	for i := range k {
		floats.AddScaledTo(r, z[i*n:(i+1)*n], -values[i], q[i*n:(i+1)*n])
		worst = math.Max(worst, floats.Norm(r, 2))
	}
	return worst
}
