package mean

import (
	"fmt"

	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
)

// ErrMemory is matched by the error of a computation that would exceed the available memory. The message has the
// figures. The error is returned before the computation begins.
var ErrMemory = memory.ErrTooLarge

// reserve reserves memory for numbers of a computation on rows, plus the sums of shards, the buffers of threads and
// the points of a solver. Sizes are float64, so that no product of them overflows.
func reserve(act string, x rows.Data, threads int, numbers float64) (*memory.Reservation, error) {
	D := float64(x.D)
	shards, workers := float64(par.Shards(x.N)), float64(par.Threads(threads))
	const points = 60 // pairs, line search and ends of lbfgs
	numbers += 4*shards*D + 2*workers*batchRows*D + points*D
	r, err := memory.Reserve(fmt.Sprintf("%s%d rows of %d columns", act, x.N, x.D), 8*numbers, "take fewer rows or columns")
	if err != nil {
		return nil, fmt.Errorf("mean: %w", err)
	}
	return r, nil
}

// reserveMean reserves the memory to compute a mean: a column with its order and weights, distances of rows, and the
// Hessian with its factor.
func reserveMean(x rows.Data, threads int) (*memory.Reservation, error) {
	n, D := float64(x.N), float64(x.D)
	return reserve("", x, threads, 6*n+hessian(D))
}

// reserveSensitivity reserves the memory for responses of a mean, in addition to the rows: the Hessian with its
// factor, and the given number of copies of the rows.
func reserveSensitivity(x rows.Data, threads int, copies float64) (*memory.Reservation, error) {
	n, D := float64(x.N), float64(x.D)
	return reserve("influence of ", x, threads, copies*n*D+3*n+hessian(D))
}

// hessian counts a matrix with its factor, and a batch of Hessians of rows with
// what a loss makes of them.
func hessian(D float64) float64 {
	return 5*D*D + 6*max(productEntries, D*D)
}

// reserveUnits holds a copy of the rows.
func reserveUnits(x rows.Data) (*memory.Reservation, error) {
	return reserve("", x, 1, float64(x.N)*float64(x.D))
}

// productEntries bounds the entries of a batch of products.
const productEntries = 1 << 16
