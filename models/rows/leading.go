package rows

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	// directEigen is the order up to which all eigenvectors are computed, exactEigen the order up to which they
	// are if the Krylov method does not converge.
	directEigen, exactEigen = 160, 256
	// MaxAll is the order up to which all eigenvectors are computed if all are requested.
	MaxAll = 1024
	// MaxExplicit is the number of columns up to which computing the second moments is faster
	// than products without them.
	MaxExplicit = 400
)

// asksAll reports whether k is at least n-1, the number of eigenvectors of n centred rows,
// and n is small enough for a full decomposition.
func asksAll(n, k int) bool { return k >= n-1 && n <= MaxAll }

// matrixEffort is the effort for matrices in memory, whose products are cheap.
var matrixEffort = effort{products: 16}

// readEffort is the effort for matrices whose products read the rows. It is low for
// directions of noise, which a fit replaces anyway.
var readEffort = effort{products: 8, vectors: 128, settled: 5e-4}

// leadingEigenvectors returns the k largest eigenvalues of the positive
// semidefinite n x n matrix a, descending, and their eigenvectors as rows; see
// [krylovEigenvectors] for matrices that are not small.
func leadingEigenvectors(ctx context.Context, a []float64, n, k int) (values, vectors []float64, err error) {
	if n > directEigen && !asksAll(n, k) {
		values, vectors, exact, err := krylovEigenvectors(ctx, explicit{a, n}, k, matrixEffort)
		if err != nil || exact && len(values) == k || n > exactEigen {
			return values, vectors, err
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
