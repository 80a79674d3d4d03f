package rows

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	// directEigen is the order up to which all eigenvectors are computed, and
	// exactEigen that up to which they are where others do not converge.
	directEigen, exactEigen = 160, 256
	// MaxAll is the order up to which all are where all are asked for.
	MaxAll = 1024
	// MaxExplicit is the number of columns up to which second moments are computed
	// in less time than products with them take.
	MaxExplicit = 400
)

// asksAll tells whether k of n eigenvectors are all that rows of some mean can have, and few enough
// to be computed at once.
func asksAll(n, k int) bool { return k >= n-1 && n <= MaxAll }

// matrixEffort is for matrices that are held, whose products cost next to nothing.
var matrixEffort = effort{products: 16}

// readEffort is for matrices whose products read so many numbers: the more there are, the
// less is spent on directions of noise, among which a fit finds its own.
func readEffort(numbers float64) effort {
	if numbers <= fewNumbers {
		return effort{products: 12, settled: 1e-5}
	}
	return effort{products: 8, settled: 5e-4}
}

// fewNumbers is their number up to which products take milliseconds.
const fewNumbers = 1 << 21

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
