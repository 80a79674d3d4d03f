package framework

// Loss scores residual rows. All methods may be called from several goroutines
// at once.
type Loss interface {
	// Name is the name under which users know the loss, such as "l2".
	Name() string
	// Evaluate scores a batch of rows. r holds len(r)/dim rows of dim entries
	// each. Where values is not nil it receives one loss per row; where grad is
	// not nil it receives, in the shape of r, the gradients, at a kink any
	// subgradient. Row i of the results depends on row i of r only. grad may be
	// the same slice as r.
	//
	// Losses are finite and at least 0 for finite residuals, unless the
	// residual is so large that the loss overflows.
	Evaluate(values, grad, r []float64, dim int) error
}

// Radial is a loss that depends on the norm of a row only:
// loss(r) = rho(|r|^2).
type Radial interface {
	Loss
	// Rho evaluates rho and its first two derivatives at the squared norms u.
	// Destinations that are nil are not computed. Derivatives that do not
	// exist (a kink at u = 0) come as the finite values that the loss
	// documents.
	Rho(rho, d1, d2, u []float64)
}

// Separable is a loss that is a sum over entries: loss(r) = sum_k phi(r_k).
type Separable interface {
	Loss
	// Phi evaluates phi and its first two derivatives entry by entry.
	// Destinations that are nil are not computed.
	Phi(phi, d1, d2, r []float64)
}

// Quadratic is the loss r'Mr for a symmetric positive definite M.
type Quadratic interface {
	Loss
	// Matrix returns M, dim x dim, row-major. The caller must not change it.
	Matrix() []float64
}

// Majorizer offers weights of a quadratic upper bound: with w = Weights(r0),
// loss(r) <= loss(r0) + 1/2 sum_k w_k (r_k^2 - r0_k^2) for every r.
type Majorizer interface {
	// Weights writes one weight per row where the loss is [Radial], else one
	// per entry. Weights are finite and at least 0.
	Weights(w, r []float64, dim int) error
}

// Minorizer offers weights of a quadratic lower bound: with w = LowerWeights(r0) and the
// gradient g at r0, loss(r) >= loss(r0) + g'(r - r0) + 1/2 sum_k w_k (r_k - r0_k)^2 for every r.
type Minorizer interface {
	// LowerWeights writes one weight per entry. Weights are finite and at least 0.
	LowerWeights(w, r []float64, dim int) error
}

// SecondOrder offers Hessian-vector products, row by row.
type SecondOrder interface {
	// HessianProduct writes into row i of dst the product of the Hessian of
	// the loss at row i of r with row i of v. dst may be v.
	HessianProduct(dst, r, v []float64, dim int) error
}

// Smoother is a loss with kinks that has a smooth approximation.
type Smoother interface {
	// Smooth returns the loss with its kinks rounded over the length eps > 0,
	// in the unit of the residuals; Smooth(0) returns the loss itself.
	// Smoothed and plain loss differ by at most a constant times eps per entry.
	Smooth(eps float64) Loss
}

// Rescaler is a loss that can be written in other units.
type Rescaler interface {
	// Rescale returns a loss l and a factor k with loss(unit r) = k l(r) for
	// every r, up to rounding; unit > 0.
	Rescale(unit float64) (l Loss, factor float64)
}

// Dimensioned is a loss that fits rows of one length only.
type Dimensioned interface {
	// Dim is that length.
	Dim() int
}

// Parametric is a loss with parameters, for reports and files.
type Parametric interface {
	// Params returns the parameters under the names users set them by.
	Params() map[string]float64
}

// ErrReporter is a loss that can fail in methods that return no error. Their
// results are then NaN.
type ErrReporter interface {
	// Err returns why the loss has failed, or nil where it has not.
	Err() error
}

// HighLatency is a loss whose calls take long for what they compute, and which
// joins those that several goroutines make at the same time. Problems call it
// from more goroutines than there are processors; most of them wait.
type HighLatency interface {
	// Callers is the number of goroutines that should call it at a time.
	Callers() int
}

// Identified is a loss that another program computes.
type Identified interface {
	// Program says which one.
	Program() Program
}

// Program identifies the program that computes a loss, for reports and files.
type Program struct {
	// Name is the name of the loss, by which the program can be found again.
	Name string `json:"name"`
	// Version is what the program says about itself, SHA256 the checksum of its
	// file in hexadecimal digits.
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	// Params are all its parameters as one JSON object.
	Params string `json:"params"`
}

// Structure says which of the forms above a loss has.
type Structure int

// The structures a loss can have. BlackBox is a loss known by its values and
// gradients only.
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
func StructureOf(l Loss) Structure {
	switch l.(type) {
	case Radial:
		return StructureRadial
	case Separable:
		return StructureSeparable
	case Quadratic:
		return StructureQuadratic
	default:
		return StructureBlackBox
	}
}
