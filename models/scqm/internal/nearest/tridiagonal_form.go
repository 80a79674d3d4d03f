package nearest

import (
	"fmt"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// TridiagonalForm is the loss r'Mr in coordinates in which M is tridiagonal: it takes five operations per entry
// instead of 2D.
type TridiagonalForm struct {
	M *dense.Tridiagonal
	// Of is the equivalent loss in the original coordinates.
	Of framework.Loss

	whole func() []float64
}

// NewTridiagonalForm makes the loss of a matrix.
func NewTridiagonalForm(m *dense.Tridiagonal, of framework.Loss) *TridiagonalForm {
	return &TridiagonalForm{m, of, sync.OnceValue(m.Matrix)}
}

// Name implements [framework.Loss].
func (l *TridiagonalForm) Name() string { return l.Of.Name() }

// Dim implements [rowloss.Dimensioned].
func (l *TridiagonalForm) Dim() int { return len(l.M.Diagonal) }

// Matrix implements [framework.Quadratic]; it makes M at the first call.
func (l *TridiagonalForm) Matrix() []float64 { return l.whole() }

// Evaluate implements [framework.Loss].
func (l *TridiagonalForm) Evaluate(values, grad, r []float64, dim int) error {
	if err := l.check(dim); err != nil {
		return err
	}
	product := grad
	if product == nil {
		product = make([]float64, dim)
	}
	for i := range len(r) / dim {
		row, to := r[i*dim:(i+1)*dim], product[:dim]
		l.M.MultiplyRows(to, row)
		if values != nil {
			values[i] = max(0, floats.Dot(to, row)) // see that of package losses
		}
		if grad != nil {
			floats.Scale(2, to)
			product = product[dim:]
		}
	}
	return nil
}

// HessianProduct implements [framework.SecondOrder].
func (l *TridiagonalForm) HessianProduct(dst, _, v []float64, dim int) error {
	if err := l.check(dim); err != nil {
		return err
	}
	product := make([]float64, dim)
	for i := range len(v) / dim {
		l.M.MultiplyRows(product, v[i*dim:(i+1)*dim])
		floats.ScaleTo(dst[i*dim:(i+1)*dim], 2, product)
	}
	return nil
}

func (l *TridiagonalForm) check(dim int) error {
	if dim != l.Dim() {
		return fmt.Errorf("the matrix is %d x %d, residual rows have %d entries: %w", l.Dim(), l.Dim(), dim, framework.ErrInvalid)
	}
	return nil
}
