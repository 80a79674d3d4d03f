package rows

import (
	"context"
	"fmt"
)

// Source provides rows of a table that need not be in memory.
type Source interface {
	// Shape returns the number of rows and of columns.
	Shape() (n, d int)
	// ReadRows writes len(dst)/d rows, from row first on, into dst, row-major. All must be
	// rows of the table. It may be called concurrently.
	ReadRows(ctx context.Context, dst []float64, first int) error
}

// Holder is a [Source] that may hold its rows in memory.
type Holder interface {
	Source
	// Held returns count rows from first on, row-major, without copying; all must be rows of
	// the table. It returns nil if only ReadRows can read them, and an error if ReadRows
	// would. The rows must not be modified.
	Held(first, count int) ([]float64, error)
}

// Held returns a part of x.X, see [Holder].
func (x Data) Held(first, count int) ([]float64, error) {
	if first < 0 || count < 0 || first > x.N-count {
		return nil, fmt.Errorf("scqm: %d rows from row %d on of %d: %w", count, first, x.N, ErrInput)
	}
	return x.X[first*x.D : (first+count)*x.D], nil
}

// Shape returns N and D. It makes Data a [Source].
func (x Data) Shape() (n, d int) { return x.N, x.D }

// ReadRows copies rows, see [Source].
func (x Data) ReadRows(ctx context.Context, dst []float64, first int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	count := len(dst) / x.D
	if first < 0 || count*x.D != len(dst) || first > x.N-count {
		return fmt.Errorf("scqm: %d numbers from row %d on are no rows of %d x %d: %w", len(dst), first, x.N, x.D, ErrInput)
	}
	copy(dst, x.X[first*x.D:])
	return nil
}
