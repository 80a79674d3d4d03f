package denoise

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// PCA takes rows to the plane of their principal axes, and shrinks the coordinates
// there as noise of equal variance in all directions asks for: no surface but a linear
// model of all rows. Its axes are those of Options, or those that are more than noise.
//
// Source: M. Gavish, D. Donoho, Optimal shrinkage of singular values, IEEE Transactions
// on Information Theory 63 (2017).
type PCA struct {
	plane *plane
	// instead is the dimension of the charts that would have been, 0 where it was asked for.
	instead int
	// neighbors is the number of nearest rows whose components are taken, 0 all, and signal what
	// [localLinear] has of all rows.
	neighbors int
	signal    []float64
}

// method is the linear model in place of charts of dimension d, without its plane.
func (l *linearModel) method(d int) PCA {
	return PCA{instead: d, neighbors: l.neighbors, signal: l.signal}
}

// Dimension is that of the charts which the model replaces, or else the number of axes.
func (m PCA) Dimension() int {
	if m.instead > 0 || m.plane == nil {
		return m.instead
	}
	return max(m.plane.shrinking(), 1)
}

// Name returns "pca".
func (PCA) Name() string { return "pca" }

// Size returns the number of neighbours by which results are judged.
func (PCA) Size(n, _ int) (int, error) {
	if n < 2 {
		return 0, fmt.Errorf("denoise: pca: %d rows are too few for a principal axis; want at least 2: %w", n, ErrInput)
	}
	return min(DefaultNeighbors, n), nil
}

// Prepare has nothing to do: [Fit] finds the axes.
func (m PCA) Prepare(_ context.Context, c *Cloud, _ Options) (Fitted, error) {
	if m.plane == nil {
		return nil, fmt.Errorf("denoise: pca: rows without a principal axis: %w", ErrInput)
	}
	if m.neighbors > 0 {
		return m.nearRows(c, lookup.NewIndex(m.plane.shrunk(c.Data), c.D, c.used)), nil
	}
	return &shrunk{m.plane, c.rows()}, nil
}

// shrunk is rows of coordinates along principal axes, which are shrunk.
type shrunk struct {
	plane *plane
	n     int
}

// Worker returns the same for all.
func (f *shrunk) Worker(context.Context) (Worker, error) { return f, nil }

// Place implements Worker.
func (f *shrunk) Place(_ *Neighborhood, about *Row) error {
	about.Neighbors, about.Noise = f.n, f.plane.noise
	return nil
}

// Project implements Worker.
func (f *shrunk) Project(dst, z []float64) error {
	f.plane.shrink(dst, z)
	return nil
}
