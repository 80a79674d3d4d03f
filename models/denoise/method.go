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
	// Worker makes charts and projects rows on them, in memory of its own.
	Worker = core.Worker
	// Cloud is the rows that a method is fitted to, with an index of them.
	Cloud = core.Cloud
	// Neighborhood is the neighbourhood of a point: the nearest rows of a cloud.
	Neighborhood = core.Neighborhood
	// Options are what all methods have in common. The zero value is the default.
	Options = core.Options
	// Row says how one row was denoised.
	Row = core.Row
	// Result is what became of the rows.
	Result = core.Result
)

// Auto is the method to recommend.
type Auto = auto.Auto

// DefaultNeighbors is the number of neighbours that 0 stands for in the settings of most methods.
const DefaultNeighbors = core.DefaultNeighbors

// AllColumns as the Axes of Options keeps all columns.
const AllColumns = core.AllColumns

var (
	// ErrInput marks data or settings that cannot be used. It is that of package scqm.
	ErrInput = core.ErrInput
	// ErrMemory is matched by errors about work that would take more memory than
	// there is; the message has the figures. It is found before the work begins.
	ErrMemory = core.ErrMemory
)
