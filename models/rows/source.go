package rows

import (
	"context"
	"fmt"
)

// Source gives rows of a table that need not be in memory.
type Source interface {
	// Shape returns the number of rows and of columns.
	Shape() (n, d int)
	// ReadRows writes the rows from first on into dst, row-major, len(dst)/d of
	// them, all within the table. It may be called from many goroutines at a time.
	ReadRows(ctx context.Context, dst []float64, first int) error
}

// Shape returns N and D: data in memory are a [Source].
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
