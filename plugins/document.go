package plugins

// Document is what users read about a loss.
type Document struct {
	// Version is the version of the plugin.
	Version string
	// Summary says in a line when to use the loss, Formula what it is.
	Summary, Formula string
	// NonConvex says that the loss makes no promise to be convex.
	NonConvex bool
	// Concave says of a [RadialForm] that rho(u) is concave, and of a
	// [SeparableForm] that phi is as a function of r^2. Their derivatives then
	// give weights, with which solvers are faster.
	Concave bool
}

// Documented is a loss that describes itself.
type Documented interface {
	// Document describes the loss.
	Document() Document
}

// Validator is a loss that can refuse its parameters.
type Validator interface {
	// Validate returns what is wrong with the parameters.
	Validate() error
}
