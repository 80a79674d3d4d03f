package rowloss

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// LossError reports a loss that is not finite for an ordinary residual. It matches [framework.ErrNonFinite].
type LossError struct {
	Loss  string  // name of the loss
	What  string  // "value" or "gradient"
	Value float64 // the value that is not finite
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

// Unwrap returns [framework.ErrNonFinite].
func (e *LossError) Unwrap() error { return framework.ErrNonFinite }

// LossErrorAt tests a loss at one residual, because solvers only get a sum that is not finite. It returns a
// [LossError] if the loss is not finite, or the error of Evaluate. It returns nil if the loss is finite or an entry
// of the residual is beyond 1e100.
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
