// Package rowloss defines further optional interfaces of losses for the models that fit rows with them: bounds,
// units, the length of rows, parameters, and the program that computes the loss. A loss offers one by having its
// methods.
//
// Begin with [Parametric].
package rowloss

import "github.com/scqm/scqm/framework"

// Rescaler is a loss that can be converted to other units.
type Rescaler interface {
	// Rescale returns a loss l and a factor k with loss(unit r) = k l(r) for
	// every r, up to rounding; unit > 0.
	Rescale(unit float64) (l framework.Loss, factor float64)
}

// Dimensioned is a loss for rows of one length only.
type Dimensioned interface {
	// Dim returns this length.
	Dim() int
}

// Parametric is a loss with parameters, for reports and files.
type Parametric interface {
	// Params returns the parameters by the names under which users set them.
	Params() map[string]float64
}

// ErrReporter is a loss that can fail in methods that return no error. Their
// results are then NaN.
type ErrReporter interface {
	// Err returns the error of the loss, nil if there is none.
	Err() error
}

// HighLatency is a loss with a high latency per call that joins simultaneous calls from several goroutines. Problems
// call it from more goroutines than there are processors; most of them wait.
type HighLatency interface {
	// Callers is the number of goroutines that should call it at a time.
	Callers() int
}

// Noted is a loss with notes on its work for a fit, which become warnings of the fit.
type Noted interface {
	// Notes returns the notes as sentences.
	Notes() []string
}

// Identified is a loss that is computed by another program and can identify that program.
type Identified interface {
	// Program describes the program.
	Program() Program
}

// Program identifies the program that computes a loss, for reports and files.
type Program struct {
	// Name is the name of the loss, by which the program can be found again.
	Name string `json:"name"`
	// Version is the version that the program reports, SHA256 the checksum of its file in hexadecimal digits.
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	// Params are all its parameters as one JSON object.
	Params string `json:"params"`
}

// Structure describes which of the forms above a loss has.
type Structure int

// The structures a loss can have. BlackBox is a loss of which only values and gradients are known.
const (
	StructureBlackBox Structure = iota
	StructureRadial
	StructureSeparable
	StructureQuadratic
)

// String returns the structure in words.
func (s Structure) String() string {
	switch s {
	case StructureRadial:
		return "radial"
	case StructureSeparable:
		return "separable"
	case StructureQuadratic:
		return "metric"
	default:
		return "black box"
	}
}

// StructureOf returns the structure of a loss.
func StructureOf(l framework.Loss) Structure {
	switch l.(type) {
	case framework.Radial:
		return StructureRadial
	case framework.Separable:
		return StructureSeparable
	case framework.Quadratic:
		return StructureQuadratic
	default:
		return StructureBlackBox
	}
}
