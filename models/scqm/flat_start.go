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
	at := &placed{x: framework.NewPoint(p.Blocks()), heights: make([]float64, whole.N*f.S)}
	copy(at.x[BlockC], c)
	dense.Transpose(at.x[BlockQ], axes, f.M, f.D)
	axes, err := p.restored(axes[:f.M*f.D], at.x[BlockQ])
	if err != nil {
		return nil, err
	}
	squares := make([]float64, whole.N)
	whole.EachProduct(c, axes, squares, nil, func(i int, products []float64) {
		copy(at.x[BlockTau][i*f.Latent:(i+1)*f.Latent], products)
		copy(at.heights[i*f.S:(i+1)*f.S], products[f.Latent:])
	})
	var sum, total float64
	for i, v := range squares {
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
