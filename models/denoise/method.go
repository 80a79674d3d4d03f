package denoise

import (
	"github.com/scqm/scqm/models/denoise/internal/auto"
	"github.com/scqm/scqm/models/denoise/internal/core"
)

// The types of methods, which their packages share.
type (
	// Method is a way to denoise rows, with its settings.
	Method = core.Method
	// Fitted is a method that has been prepared for a cloud. It may be used by several
	// goroutines at once.
	Fitted = core.Fitted
	// Worker makes charts and projects rows onto them, in its own memory.
	Worker = core.Worker
	// Cloud holds the rows to which a method is fitted, with an index.
	Cloud = core.Cloud
	// Neighborhood is the neighbourhood of a point: the nearest rows of a cloud.
	Neighborhood = core.Neighborhood
	// Options are the settings that all methods share. The zero value is the default.
	Options = core.Options
	// Row reports how one row was denoised.
	Row = core.Row
	// Result holds the denoised rows and their reports.
	Result = core.Result
)

// Auto is the recommended method.
type Auto = auto.Auto

// DefaultNeighbors is the number of neighbours that 0 stands for in the settings of most methods.
const DefaultNeighbors = core.DefaultNeighbors

// AllColumns as the Axes of Options keeps all columns.
const AllColumns = core.AllColumns

var (
	// ErrInput reports data or settings that cannot be used. It is the ErrInput of package scqm.
	ErrInput = core.ErrInput
	// ErrMemory is matched by the error of a computation that would exceed the available memory. The message has the
	// figures. The error is returned before the computation begins.
	ErrMemory = core.ErrMemory
)
