package scqm

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"gonum.org/v1/gonum/floats"
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

	// Tau holds the latent coordinates of the rows the model was fitted to, n x
	// d; nil where they are not known.
	Tau []float64
	// Loss measures the distance of a row from the sheet.
	Loss framework.Loss
	// Meta describes the fit.
	Meta Meta
}

// orthonormal is how far Q'Q of a usable model may be from I.
const orthonormal = 1e-8

// Validate reports the first thing that makes the model unusable: a shape that
// does not fit, a number that is not finite, or axes that are not orthonormal.
func (m *Model) Validate() error {
	if m.D < 1 || m.Latent < 1 || m.Curvature < 0 || m.Latent+m.Curvature > m.D {
		return fmt.Errorf("scqm: model with D = %d, d = %d, s = %d; want d >= 1, s >= 0 and d + s <= D: %w",
			m.D, m.Latent, m.Curvature, ErrInput)
	}
	q := vechLen(m.Latent)
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
	for i := range f.m {
		for j := range i + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			if e := math.Abs(floats.Dot(f.axis(i), f.axis(j)) - want); !(e <= orthonormal) {
				return fmt.Errorf("scqm: columns %d and %d of [U V] are not orthonormal, by %.2g: %w", j, i, e, ErrInput)
			}
		}
	}
	return nil
}

// sheet returns the model in the layout of the kernels.
func (m *Model) sheet() *sheet {
	f := newSheet(m.D, m.Latent, m.Curvature)
	copy(f.c, m.C)
	copy(f.theta, m.Theta)
	transpose(f.qt[:m.Latent*m.D], m.U, m.D, m.Latent)
	transpose(f.qt[m.Latent*m.D:], m.V, m.D, m.Curvature)
	return f
}

// fromSheet writes a sheet back into C, U, V and Theta.
func (m *Model) fromSheet(f *sheet) {
	m.D, m.Latent, m.Curvature = f.D, f.d, f.s
	m.C, m.Theta = f.c, f.theta
	m.U, m.V = make([]float64, f.D*f.d), make([]float64, f.D*f.s)
	transpose(m.U, f.qt[:f.d*f.D], f.d, f.D)
	transpose(m.V, f.qt[f.d*f.D:], f.s, f.D)
}

// Reconstruct returns f(tau_i) for the rows of tau, n x d, as n x D.
func (m *Model) Reconstruct(ctx context.Context, tau []float64, threads int) ([]float64, error) {
	if len(tau)%m.Latent != 0 {
		return nil, fmt.Errorf("scqm: %d latent numbers do not make rows of length %d: %w", len(tau), m.Latent, ErrInput)
	}
	for i, v := range tau {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("scqm: row %d, column %d of tau is %v: %w", i/m.Latent, i%m.Latent, v, ErrInput)
		}
	}
	held, err := m.reserveMap("reconstruct", len(tau)/m.Latent, m.D, threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	f, n := m.sheet(), len(tau)/m.Latent
	x := make([]float64, n*m.D)
	par.Do(par.Threads(threads), par.Shards(n), func(_, shard int) {
		z, phi := make([]float64, f.m), make([]float64, f.q)
		lo, hi := par.Bounds(n, shard)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			f.coordinates(z, phi, tau[i*f.d:(i+1)*f.d])
			row := x[i*f.D : (i+1)*f.D]
			copy(row, f.c)
			for k, v := range z {
				floats.AddScaled(row, v, f.axis(k))
			}
		}
	})
	if !(framework.Point{x}).Finite() {
		return nil, fmt.Errorf("scqm: latent coordinates so large that the rows overflow: %w", ErrInput)
	}
	return x, ctx.Err()
}

// Project returns the rows moved onto the sheet, f(Transform(x)), as n x D.
func (m *Model) Project(ctx context.Context, x Data, threads int) ([]float64, error) {
	tau, err := m.Transform(ctx, x, threads)
	if err != nil {
		return nil, err
	}
	return m.Reconstruct(ctx, tau, threads)
}

// Transform returns the latent coordinates of the point of the sheet that is
// nearest to each row under the model's loss, n x d. The result for a row does
// not depend on the others.
func (m *Model) Transform(ctx context.Context, x Data, threads int) ([]float64, error) {
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	held, err := m.reserveMap("transform", x.N, m.Latent, threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	tau := make([]float64, x.N*m.Latent)
	return tau, projectRows(ctx, tau, m.sheet(), m.Loss, x, threads)
}

// projectRows writes the latent coordinates of all rows of x into tau.
func projectRows(ctx context.Context, tau []float64, f *sheet, loss framework.Loss, x Data, threads int) error {
	threads = callers(loss, threads)
	errs := make([]error, max(par.Shards(x.N), min(x.N, threads)))
	par.Do(threads, len(errs), func(_, shard int) {
		lo, hi := shard*x.N/len(errs), (shard+1)*x.N/len(errs)
		part := Data{N: hi - lo, D: x.D, X: x.X[lo*x.D : hi*x.D]}
		errs[shard] = newProjector(f, loss).project(ctx, tau[lo*f.d:hi*f.d], part, lo)
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
