package rows

import (
	"context"
	"fmt"
)

// Weigher is a [Source] whose rows have weights, as in [Data].
type Weigher interface {
	Source
	// ReadWeights writes the weights of the rows from first on into dst. It may be
	// called from many goroutines at a time.
	ReadWeights(ctx context.Context, dst []float64, first int) error
}

// ReadWeights copies weights, see [Weigher].
func (x Data) ReadWeights(ctx context.Context, dst []float64, first int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if first < 0 || first > x.N-len(dst) {
		return fmt.Errorf("scqm: %d weights from row %d on are not of %d rows: %w", len(dst), first, x.N, ErrInput)
	}
	for i := range dst {
		dst[i] = x.Weight(first + i)
	}
	return nil
}
