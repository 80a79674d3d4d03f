package plugins

// Document is the description of a loss for users.
type Document struct {
	// Version is the version of the plugin.
	Version string
	// Summary says in one line when to use the loss. Formula is its formula.
	Summary, Formula string
	// NonConvex is true if the loss may be non-convex.
	NonConvex bool
	// Concave is true if rho(u) of a [RadialForm] is concave, or if phi of a
	// [SeparableForm] is a concave function of r^2. The derivatives then give weights,
	// with which solvers are faster.
	Concave bool
}

// Documented is implemented by a loss that describes itself.
type Documented interface {
	// Document returns the description of the loss.
	Document() Document
}

// Validator is implemented by a loss that can reject parameter values.
type Validator interface {
	// Validate returns an error if the parameters are invalid.
	Validate() error
}
