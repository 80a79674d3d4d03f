package scqm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// Reconstruct returns the points f(tau_i) for the rows of tau (n x d), as an n x D array.
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
		z, phi := make([]float64, f.M), make([]float64, f.Q)
		lo, hi := par.Bounds(n, shard)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			f.Coordinates(z, phi, tau[i*f.Latent:(i+1)*f.Latent])
			row := x[i*f.D : (i+1)*f.D]
			copy(row, f.C)
			for k, v := range z {
				floats.AddScaled(row, v, f.Axis(k))
			}
		}
	})
	if !(framework.Point{x}).Finite() {
		return nil, fmt.Errorf("scqm: latent coordinates so large that the rows overflow: %w", ErrInput)
	}
	return x, ctx.Err()
}

// Project returns the points f(Transform(x)) of the sheet nearest to the rows, as an n x D array.
func (m *Model) Project(ctx context.Context, x Data, threads int) ([]float64, error) {
	tau, err := m.Transform(ctx, x, threads)
	if err != nil {
		return nil, err
	}
	return m.Reconstruct(ctx, tau, threads)
}

// Transform returns the latent coordinates of the nearest point of the sheet to each row, n x d. Distance is measured
// by the model's loss. The result for a row does not depend on the others.
func (m *Model) Transform(ctx context.Context, x Data, threads int) ([]float64, error) {
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	x.Missing = m.Meta.Missing != nil
	held, err := m.reserveMap("transform", x.N, m.Latent, threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	loss, missing, err := m.rowLosses()
	if err != nil {
		return nil, err
	}
	tau := make([]float64, x.N*m.Latent)
	err = nearest.ProjectRows(ctx, tau, m.sheet(), loss, x, missing, threads)
	return tau, err
}

// reserveMap reserves the memory for mapping rows through the model: the result, with the given number of columns,
// and the buffers of the projection.
func (m *Model) reserveMap(act string, n int, columns int, threads int) (*memory.Reservation, error) {
	x := Data{N: n, D: m.D}
	f := newFootprint(x, m.Loss, m.Latent, m.Curvature, threads)
	return reserve(act, x, f.n*float64(columns)+3*f.sheet+f.callers*f.worker()+f.projections())
}
