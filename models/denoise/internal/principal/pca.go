package principal

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// PCA projects rows onto the plane of their principal axes, and shrinks the coordinates for noise of equal variance
// in all directions. It is a linear model of all rows. Its axes are those of Options, or those that exceed the noise.
//
// Source: M. Gavish, D. Donoho, Optimal shrinkage of singular values, IEEE Transactions
// on Information Theory 63 (2017).
type PCA struct {
	Plane *Plane
	// Instead is the dimension of the charts that the model replaces, 0 if the user chose the model.
	Instead int
	// Neighbors is the number of nearest rows whose components are used, 0 for all. signal holds the parameters of
	// [localLinear] from all rows.
	Neighbors int
	Signal    []float64
}

// Method returns the linear model as a method that replaces charts of dimension d, without its plane.
func (l *Linear) Method(d int) PCA {
	return PCA{Instead: d, Neighbors: l.neighbors, Signal: l.signal}
}

// Dimension returns that of the replaced charts, or the number of axes if the user chose the model.
func (m PCA) Dimension() int {
	if m.Instead > 0 || m.Plane == nil {
		return m.Instead
	}
	return max(m.Plane.shrinking(), 1)
}

// Name returns "pca".
func (PCA) Name() string { return "pca" }

// Size returns the number of neighbours that are used to judge the result of a row, see [core.Prepared].
func (PCA) Size(n, _ int) (int, error) {
	if n < 2 {
		return 0, core.Short("pca: %d rows are too few for a principal axis; want at least 2", n)
	}
	return min(core.DefaultNeighbors, n), nil
}

// Prepare computes no axes, since [Fit] has found them already.
func (m PCA) Prepare(_ context.Context, c *core.Cloud, _ core.Options) (core.Fitted, error) {
	if m.Plane == nil {
		return nil, fmt.Errorf("denoise: pca: rows without a principal axis: %w", core.ErrInput)
	}
	if m.Neighbors > 0 {
		return m.NearRows(c, lookup.NewIndex(m.Plane.Shrunk(c.Data), c.D, c.Used)), nil
	}
	return &Shrunk{m.Plane, c.Count()}, nil
}

// Shrunk denoises coordinates along principal axes by shrinking them.
type Shrunk struct {
	Plane *Plane
	N     int
}

// Worker returns f itself, which has no state of its own for each goroutine.
func (f *Shrunk) Worker(context.Context) (core.Worker, error) { return f, nil }

// Place implements Worker.
func (f *Shrunk) Place(_ *core.Neighborhood, about *core.Row) error {
	about.Neighbors, about.Noise = f.N, f.Plane.Noise
	return nil
}

// Project implements Worker.
func (f *Shrunk) Project(dst, z []float64) error {
	f.Plane.shrink(dst, z)
	return nil
}
