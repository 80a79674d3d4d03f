package scqm

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Nearest finds the nearest points of models of one shape to single rows. It reuses its memory: for radial losses a
// call does not allocate. It returns what [Model.Project] returns, without validating the model. Use a Nearest from
// one goroutine.
type Nearest struct {
	f         *sheet.Sheet
	loss      framework.Loss
	projector *nearest.Projector
	tau       []float64
	z, phi    []float64
}

// NewNearest returns a Nearest for models with rows of length D, d latent dimensions and s directions of curvature, d +
// s <= D.
func NewNearest(D, d, s int, loss framework.Loss) (*Nearest, error) {
	if D < 1 || d < 1 || s < 0 || d+s > D || loss == nil {
		return nil, fmt.Errorf("scqm: nearest points of models with D = %d, d = %d, s = %d; want a loss, d >= 1, s >= 0 and d + s <= D: %w", D, d, s, ErrInput)
	}
	f := sheet.New(D, d, s)
	return &Nearest{
		f: f, loss: loss, projector: nearest.NewProjector(f, loss), tau: make([]float64, d), z: make([]float64, f.M), phi: make([]float64, f.Q),
	}, nil
}

// Load copies a model, which must have the shape given to NewNearest.
func (n *Nearest) Load(m *Model) error {
	f := n.f
	if m.D != f.D || m.Latent != f.Latent || m.Curvature != f.S {
		return fmt.Errorf("scqm: model with D = %d, d = %d, s = %d, prepared for %d, %d and %d: %w", m.D, m.Latent, m.Curvature, f.D, f.Latent, f.S, ErrInput)
	}
	copy(f.C, m.C)
	copy(f.Theta, m.Theta)
	dense.Transpose(f.QT[:f.Latent*f.D], m.U, f.D, f.Latent)
	dense.Transpose(f.QT[f.Latent*f.D:], m.V, f.D, f.S)
	n.projector.Reload()
	return nil
}

// Project writes the point of the model that is nearest to x under the loss
// into dst, which may be x.
func (n *Nearest) Project(ctx context.Context, dst, x []float64) error {
	f := n.f
	if len(x) != f.D || len(dst) != f.D {
		return fmt.Errorf("scqm: a row of length %d and room for %d, want %d: %w", len(x), len(dst), f.D, ErrInput)
	}
	if err := n.projector.Project(ctx, n.tau, Data{N: 1, D: f.D, X: x}, 0); err != nil {
		return err
	}
	f.Coordinates(n.z, n.phi, n.tau)
	copy(dst, f.C)
	for k, v := range n.z {
		floats.AddScaled(dst, v, f.Axis(k))
	}
	return nil
}
