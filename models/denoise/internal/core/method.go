package core

import (
	"context"
	"errors"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/rows"
)

// ErrInput reports data or settings that cannot be used. It is the ErrInput of package scqm.
var ErrInput = rows.ErrInput

// ErrNoSurface reports that a neighbourhood does not determine a surface. The row stays unchanged, and is flagged.
var ErrNoSurface = errors.New("the neighbourhood determines no surface")

// Method is a way to denoise rows, with its settings.
type Method interface {
	// Name is the name under which users know the method, such as "lpca".
	Name() string
	// Size returns the number of neighbours from which charts of rows of length D are made, or an error if the
	// settings do not suit n rows of length D.
	Size(n, D int) (int, error)
	// Prepare does the work that is done once for all rows of c.
	Prepare(ctx context.Context, c *Cloud, o Options) (Fitted, error)
}

// Fitted is a method that has been prepared for a cloud. It may be used by several
// goroutines at once.
type Fitted interface {
	// Worker returns a worker for one goroutine.
	Worker(ctx context.Context) (Worker, error)
}

// Worker makes charts and projects rows onto them, in its own memory.
type Worker interface {
	// Place makes the chart of the neighbourhood of a point, and reports its choices and estimates in about. h is
	// valid until the next call.
	Place(h *Neighborhood, about *Row) error
	// Project writes the projection of x onto the last chart into dst.
	Project(dst, x []float64) error
}

// Surveyed is a method whose own charts describe the surface.
type Surveyed interface{ Surveyor() Surveyor }

// Surveyor is a worker that describes the surface at the last placed row.
type Surveyor interface {
	Worker
	// Survey describes the surface at the projection of x in s. fitted reports whether x is a fitted row.
	Survey(s *chart.Shape, x []float64, fitted bool) Survey
}

// Survey describes the surface near a point.
type Survey struct {
	Error float64 // standard error of the surface in each normal direction
	Far   float64 // distance of the row from the surface of the other rows
	Noise float64 // of that surface, in each direction
	OK    bool    // a surface was found
}

// Row reports how one row was denoised.
type Row struct {
	// Residual is the distance that the row was moved.
	Residual float64
	// Noise is the standard deviation of the noise in each normal direction, estimated from the neighbours; 0 if they
	// do not determine it.
	Noise float64
	// Neighbors is the number of rows from which the chart was made. Ridge is the ridge on the curvature of the chart.
	Neighbors int
	Ridge     float64
	// Extrapolated reports that the row, before or after denoising, is outside of the ball of its neighbours: the
	// result is less reliable.
	Extrapolated bool
	// Unchanged reports that the row was not moved: no surface was found, or the point was implausibly far from the
	// neighbours, or further from the row than noise explains, or an interruption came first.
	Unchanged bool
}

// Options are the settings that all methods share. The zero value is the default.
type Options struct {
	// Threads bounds the goroutines; below 1 stands for all processors. The
	// result does not depend on it.
	Threads int
	// Progress, if not nil, is called now and then with the completed fraction of the work, from 0 to 1, one call at
	// a time.
	Progress func(part float64)
	// Reach is the largest accepted distance of a point from the mean of the neighbours, in units of the distance of
	// the furthest of them. Beyond it the row is returned unchanged. 0 stands for 2; Inf accepts any point.
	Reach float64
	// Average, if above 1, is the number of nearest charts onto which a row is projected. The result is the mean of
	// the projections with tricube weights. The cost grows by this factor.
	Average int
	// Share, if above 0, makes a chart serve all rows within this fraction of the distance of its furthest neighbour
	// from its centre, instead of one row each. [Result] reports the loss of accuracy.
	Share float64
	// Axes is the number of principal axes in whose coordinates Fit makes charts. It must exceed the dimension of the
	// surface. 0 uses the axes that exceed the noise, if there are ten columns or more and at most four axes per five
	// columns. AllColumns uses the columns themselves. Denoise ignores it.
	Axes int
	// CellRows is the number of rows of the cells into which Fit cuts larger clouds, 0 for 65,536. Denoise ignores
	// it.
	CellRows int
	// Surface announces that the surface will be described at the rows. Denoise then collects the data for it in the
	// same pass over cells.
	Surface bool
}

// AllColumns as the Axes of Options keeps all columns.
const AllColumns = -1
