package rowloss

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// LossError is a loss that is not finite for an ordinary residual. It matches
// [framework.ErrNonFinite].
type LossError struct {
	Loss  string  // its name
	What  string  // "value" or "gradient"
	Value float64 // what it is
	Norm  float64 // the Euclidean norm of the residual
}

// ordinaryResidual bounds the entries of residuals for which a loss must be finite:
// the square of larger ones can overflow.
const ordinaryResidual = 1e100

// Error names the loss and the residual.
func (e *LossError) Error() string {
	return fmt.Sprintf("loss %s: the %s is %v for a residual of norm %.3g; a loss must be finite for all ordinary residuals, also at 0",
		e.Loss, e.What, e.Value, e.Norm)
}

// Unwrap says that numbers are not finite.
func (e *LossError) Unwrap() error { return framework.ErrNonFinite }

// LossErrorAt tries a loss at one residual: solvers see only that a sum is not
// finite. It returns a [LossError] where the loss breaks its promise, what Evaluate
// returns where that fails, and nil where all is well or an entry of the residual
// is beyond 1e100.
func LossErrorAt(loss framework.Loss, r []float64) error {
	var square float64
	for _, v := range r {
		if !(math.Abs(v) <= ordinaryResidual) {
			return nil
		}
		square += v * v
	}
	value, grad := make([]float64, 1), make([]float64, len(r))
	if err := loss.Evaluate(value, grad, r, len(r)); err != nil {
		return err
	}
	for k, v := range append(value, grad...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &LossError{loss.Name(), [2]string{"value", "gradient"}[min(k, 1)], v, math.Sqrt(square)}
		}
	}
	return nil
}
