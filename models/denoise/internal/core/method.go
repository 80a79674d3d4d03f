package core

import (
	"context"
	"errors"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/rows"
)

// ErrInput marks data or settings that cannot be used. It is that of package
// scqm.
var ErrInput = rows.ErrInput

// ErrNoSurface says that a neighbourhood does not determine a surface. The row is
// left as it is, and flagged.
var ErrNoSurface = errors.New("the neighbourhood determines no surface")

// Method is a way to denoise rows, with its settings.
type Method interface {
	// Name is the name under which users know the method, such as "lpca".
	Name() string
	// Size returns the number of neighbours that charts of rows of length D are
	// made from, or an error if the settings do not suit n rows of length D.
	Size(n, D int) (int, error)
	// Prepare does what is done once for all rows of c.
	Prepare(ctx context.Context, c *Cloud, o Options) (Fitted, error)
}

// Fitted is a method that has been prepared for a cloud. It may be used by several
// goroutines at once.
type Fitted interface {
	// Worker returns what one goroutine needs to denoise rows.
	Worker(ctx context.Context) (Worker, error)
}

// Worker makes charts and projects rows on them, in memory of its own.
type Worker interface {
	// Place makes the chart of the neighbourhood of a point, and says in about
	// what it has chosen or found. h is valid until the next call.
	Place(h *Neighborhood, about *Row) error
	// Project writes the point of the last chart that belongs to x into dst.
	Project(dst, x []float64) error
}

// Surveyed is a method whose own charts describe the surface.
type Surveyed interface{ Surveyor() Surveyor }

// Surveyor is a worker that describes the surface where it has placed a row last.
type Surveyor interface {
	Worker
	// Survey describes the surface at the point that belongs to x, which is one of the rows fitted or not, in s.
	Survey(s *chart.Shape, x []float64, fitted bool) Survey
}

// Survey is what the rows about a point tell of the surface there.
type Survey struct {
	Error float64 // standard error of the surface in each direction away from it
	Far   float64 // distance of the row from the surface that the others make
	Noise float64 // about that, in each direction
	OK    bool    // a surface was found
}

// Row says how one row was denoised.
type Row struct {
	// Residual is the distance that the row was moved.
	Residual float64
	// Noise estimates, from the neighbours, the standard deviation of the noise
	// in each direction away from the surface; 0 if they cannot tell.
	Noise float64
	// Neighbors is the number of rows that the chart was made from, Ridge the
	// curvature ridge that it was made with.
	Neighbors int
	Ridge     float64
	// Extrapolated says that the row, as it came or denoised, is outside of the ball
	// that its neighbours fill: the result rests on less than that of others.
	Extrapolated bool
	// Unchanged says that no surface was found, that its point was so far
	// from the neighbours that it cannot be meant or further from the row than noise explains, or
	// that an interruption came first: the row is as it came.
	Unchanged bool
}

// Options are what all methods have in common. The zero value is the default.
type Options struct {
	// Threads bounds the goroutines; below 1 stands for all processors. The
	// result does not depend on it.
	Threads int
	// Progress, if not nil, is called now and then with the part of the work that is done,
	// from 0 to 1, one call at a time.
	Progress func(part float64)
	// Reach is the distance from the mean of the neighbours, in units of that of
	// the furthest of them, beyond which a point is not believed and the row is
	// returned as it came. 0 stands for 2; Inf believes anything.
	Reach float64
	// Average, if above 1, is the number of nearest charts on which a row is
	// projected; the result is the mean of the projections with tricube weights.
	// It costs as many times more.
	Average int
	// Share, if above 0, makes a chart serve all rows that are within this
	// fraction of the distance of its furthest neighbour from its centre,
	// instead of one row each. [Result] says what that has cost.
	Share float64
	// Axes is the number of principal axes of the rows in whose coordinates Fit makes
	// charts, above the dimension of the surface; 0 takes those that are more than noise where
	// there are ten columns or more and at most four axes for five columns, AllColumns the columns
	// themselves. It does not matter to Denoise.
	Axes int
	// CellRows is the number of rows of the cells that Fit cuts larger clouds into, 0 for 65,536. It does not matter
	// to Denoise.
	CellRows int
	// Surface says that the surface will be described at the rows: Denoise then finds in the same pass over cells what that takes.
	Surface bool
}

// AllColumns as the Axes of Options keeps all columns.
const AllColumns = -1
