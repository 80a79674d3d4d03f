package nearest

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
)

// DiagonalForm is the loss r'Mr in coordinates in which M is diagonal. It is then a sum over the entries.
type DiagonalForm struct {
	// Values are the entries of M on the diagonal.
	Values []float64
	// Of is the equivalent loss in the original coordinates.
	Of framework.Loss
}

// Name implements [framework.Loss].
func (l *DiagonalForm) Name() string { return l.Of.Name() }

// Dim implements [rowloss.Dimensioned].
func (l *DiagonalForm) Dim() int { return len(l.Values) }

// Matrix implements [framework.Quadratic].
func (l *DiagonalForm) Matrix() []float64 {
	return mat.DenseCopyOf(mat.NewDiagDense(l.Dim(), l.Values)).RawMatrix().Data
}

// Evaluate implements [framework.Loss].
func (l *DiagonalForm) Evaluate(values, grad, r []float64, dim int) error {
	if dim != l.Dim() {
		return fmt.Errorf("the matrix is %d x %d, residual rows have %d entries: %w", l.Dim(), l.Dim(), dim, framework.ErrInvalid)
	}
	product := make([]float64, dim)
	for i := range len(r) / dim {
		row := r[i*dim : (i+1)*dim]
		floats.MulTo(product, l.Values, row)
		if values != nil {
			values[i] = floats.Dot(product, row)
		}
		if grad != nil {
			floats.ScaleTo(grad[i*dim:(i+1)*dim], 2, product)
		}
	}
	return nil
}

// Phi implements [framework.Separable].
func (l *DiagonalForm) Phi(phi, d1, d2, r []float64) {
	for k, v := range r {
		m := l.Values[k%len(l.Values)]
		if phi != nil {
			phi[k] = m * v * v
		}
		if d1 != nil {
			d1[k] = 2 * m * v
		}
		if d2 != nil {
			d2[k] = 2 * m
		}
	}
}

// Weights implements [framework.Majorizer].
func (l *DiagonalForm) Weights(w, r []float64, _ int) error {
	l.Phi(nil, nil, w, r)
	return nil
}
