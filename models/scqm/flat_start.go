package scqm

import (
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

// placed is a flat sheet through the mean of the rows, with sums from the read that projected them.
type placed struct {
	x       framework.Point
	heights []float64 // n x s: coordinates of the rows along the axes in which it may bend
	spread  float64   // mean squared distance of the rows from the mean
	squares []float64 // n: those distances
}

// flatStart returns the principal component start with Theta = 0, and the mean
// squared distance of the rows from their mean.
func (p *Problem) flatStart() (framework.Point, float64, error) {
	pc, err := rows.PrincipalComponents(p.Context(), *p.Data(), p.Shape().M, p.Threads())
	if err != nil {
		return nil, 0, err
	}
	flat, err := p.place(*p.Data(), pc.Mean, pc.Axes)
	if err != nil {
		return nil, 0, err
	}
	return flat.x, flat.spread, nil
}

// place returns the flat sheet through c along the first d axes with the projections of the rows, which have no
// missing entries, in one read.
func (p *Problem) place(whole Data, c, axes []float64) (*placed, error) {
	f := p.Shape()
	at := &placed{x: framework.NewPoint(p.Blocks()), heights: make([]float64, whole.N*f.S), squares: make([]float64, whole.N)}
	copy(at.x[BlockC], c)
	dense.Transpose(at.x[BlockQ], axes, f.M, f.D)
	axes, err := p.restored(axes[:f.M*f.D], at.x[BlockQ])
	if err != nil {
		return nil, err
	}
	whole.EachProduct(c, axes, at.squares, nil, func(i int, products []float64) {
		copy(at.x[BlockTau][i*f.Latent:(i+1)*f.Latent], products)
		copy(at.heights[i*f.S:(i+1)*f.S], products[f.Latent:])
	})
	var sum, total float64
	for i, v := range at.squares {
		w := whole.Weight(i)
		sum += w * v
		total += w
	}
	at.spread = sum / total
	return at, nil
}

// restored returns axes with the curvature directions of Q, retracted as runs do at their start.
func (p *Problem) restored(axes, q []float64) ([]float64, error) {
	f := p.Shape()
	q = slices.Clone(q)
	if err := p.Blocks()[BlockQ].Restore(q); err != nil {
		return nil, err
	}
	all := make([]float64, len(axes))
	dense.Transpose(all, q, f.D, f.M)
	copy(all, axes[:f.Latent*f.D])
	return all, nil
}

const (
	// flatByProducts is the number of entries above which the cost of a flat sheet is computed from the sums of
	// the first read. Below, another read is fast.
	flatByProducts = 1 << 21
	// nearSheet is the squared residual of a row, relative to its squared distance from the mean, below which
	// the difference of squares is too inaccurate.
	nearSheet = 1e-3
)

// flatCost is the cost of a flat sheet without penalty: for losses rho(|r|^2) with
//
//	|r|^2 = |x - c|^2 - |tau|^2.
func (p *Problem) flatCost(at *placed) (float64, error) {
	x, d := p.Data(), p.Shape().Latent
	loss, radial := p.Loss().(framework.Radial)
	if !radial || x.Missing || x.N*x.D < flatByProducts {
		return p.Evaluate(nil, at.x)
	}
	f, r := p.NewSheet(), make([]float64, x.D)
	f.Load(at.x[BlockC], at.x[BlockQ], at.x[BlockTheta])
	z := make([]float64, f.M)
	for i, square := range at.squares {
		tau := at.x[BlockTau][i*d : (i+1)*d]
		left := square - dense.Dot(tau, tau)
		if !(left >= nearSheet*square) {
			copy(z, tau)
			f.Residual(r, z, x.Row(i))
			left = dense.Dot(r, r)
		}
		at.squares[i] = left
	}
	values := make([]float64, x.N)
	loss.Rho(values, nil, nil, at.squares)
	at.squares = nil
	cost := 0.0
	for i, v := range values {
		if w := x.Weight(i); w > 0 {
			cost += w * v
		}
	}
	return cost, nil
}
