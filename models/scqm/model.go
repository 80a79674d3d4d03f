package scqm

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Model is a learned sheet f(tau) = C + U tau + V Theta' phi(tau) in R^D.
type Model struct {
	// D, Latent and Curvature are the lengths of rows, of tau and of
	// Theta' phi: D, d and s.
	D, Latent, Curvature int

	C     []float64 // D
	U     []float64 // D x d
	V     []float64 // D x s
	Theta []float64 // q x s

	// Tau holds the latent coordinates of the rows that the model was fitted to, n x d; nil if they are not known.
	Tau []float64
	// Loss measures the distance of a row from the sheet.
	Loss framework.Loss
	// Meta describes the fit.
	Meta Meta
}

// orthonormal is the largest deviation of Q'Q from I in a usable model.
const orthonormal = 1e-8

// Validate returns the first defect that makes the model unusable: inconsistent shapes, numbers that are not finite,
// or axes that are not orthonormal.
func (m *Model) Validate() error {
	if m.D < 1 || m.Latent < 1 || m.Curvature < 0 || m.Latent+m.Curvature > m.D {
		return fmt.Errorf("scqm: model with D = %d, d = %d, s = %d; want d >= 1, s >= 0 and d + s <= D: %w",
			m.D, m.Latent, m.Curvature, ErrInput)
	}
	q := sheet.VechLen(m.Latent)
	for _, a := range []struct {
		name  string
		data  []float64
		count int
	}{
		{"c", m.C, m.D}, {"U", m.U, m.D * m.Latent}, {"V", m.V, m.D * m.Curvature}, {"Theta", m.Theta, q * m.Curvature},
	} {
		if len(a.data) != a.count {
			return fmt.Errorf("scqm: %s of the model has %d entries, want %d: %w", a.name, len(a.data), a.count, ErrInput)
		}
		if !(framework.Point{a.data}).Finite() {
			return fmt.Errorf("scqm: %s of the model has NaN or Inf: %w", a.name, ErrInput)
		}
	}
	if len(m.Tau)%m.Latent != 0 || !(framework.Point{m.Tau}).Finite() {
		return fmt.Errorf("scqm: tau of the model is not finite rows of length %d: %w", m.Latent, ErrInput)
	}
	f := m.sheet()
	for i := range f.M {
		for j := range i + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			if e := math.Abs(floats.Dot(f.Axis(i), f.Axis(j)) - want); !(e <= orthonormal) {
				return fmt.Errorf("scqm: columns %d and %d of [U V] are not orthonormal, by %.2g: %w", j, i, e, ErrInput)
			}
		}
	}
	return nil
}

// sheet returns the parameters of the model as a sheet, the layout that the kernels use.
func (m *Model) sheet() *sheet.Sheet {
	f := sheet.New(m.D, m.Latent, m.Curvature)
	copy(f.C, m.C)
	copy(f.Theta, m.Theta)
	dense.Transpose(f.QT[:m.Latent*m.D], m.U, m.D, m.Latent)
	dense.Transpose(f.QT[m.Latent*m.D:], m.V, m.D, m.Curvature)
	return f
}

// fromSheet writes a sheet back into C, U, V and Theta.
func (m *Model) fromSheet(f *sheet.Sheet) {
	m.D, m.Latent, m.Curvature = f.D, f.Latent, f.S
	m.C, m.Theta = f.C, f.Theta
	m.U, m.V = make([]float64, f.D*f.Latent), make([]float64, f.D*f.S)
	dense.Transpose(m.U, f.QT[:f.Latent*f.D], f.Latent, f.D)
	dense.Transpose(m.V, f.QT[f.Latent*f.D:], f.S, f.D)
}

// accepts returns an error for rows that the model cannot be applied to. Only a model learned from rows with missing
// entries accepts missing entries.
func (m *Model) accepts(x Data) error {
	x.Missing = m.Meta.Missing != nil
	if err := errors.Join(x.Validate(), m.Meta.Missing.check(m.Latent)); err != nil {
		return err
	}
	if x.D != m.D {
		return fmt.Errorf("scqm: the data have %d columns, the model was learned from %d: %w", x.D, m.D, ErrInput)
	}
	if m.Loss == nil {
		kind := "loss"
		if m.Meta.Loss.Plugin != nil {
			kind = "loss plugin"
		}
		return fmt.Errorf("scqm: the %s %q of the model is not loaded, and without it nothing can be projected: %w", kind, m.Meta.Loss.Name, ErrInput)
	}
	return nil
}
