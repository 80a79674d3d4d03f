package influence

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/scqm/scqm/models/rows"
)

// Numbers returns what LeaveOut needs of the rows: the factor and the moves, P x P each.
func (k *Jackknife) Numbers() [2][]float64 { return [2][]float64{k.hessian, k.moves} }

// Restore takes the Numbers of another jackknife at the same sheet, in place of sums and
// Factorize.
func (k *Jackknife) Restore(of [2][]float64) error {
	P := k.P
	for _, list := range of {
		if len(list) != P*P {
			return fmt.Errorf("scqm: influence by %d numbers, want %d: %w", len(list), P*P, rows.ErrInput)
		}
		for _, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("scqm: influence by numbers that are not finite: %w", rows.ErrInput)
			}
		}
	}
	k.hessian, k.moves = of[0], of[1]
	for i := range P {
		if !(k.hessian[i*P+i] > 0) {
			return fmt.Errorf("scqm: influence by a factor that is none: %w", rows.ErrInput)
		}
	}
	k.factor = blas64.Triangular{N: P, Stride: P, Data: k.hessian, Uplo: blas.Upper, Diag: blas.NonUnit}
	return nil
}
