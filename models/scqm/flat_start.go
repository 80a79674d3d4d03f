package scqm

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

// placed is a flat sheet through the mean of the rows, with the sums over the projections of the rows onto it.
type placed struct {
	x       framework.Point
	heights []float64 // n x s: coordinates of the rows along the directions of curvature
	spread  float64   // mean squared distance of the rows from the mean
}

// flatStart returns the principal component start with Theta = 0, and the mean
// squared distance of the rows from their mean.
func (p *Problem) flatStart() (framework.Point, float64, error) {
	pc, err := rows.PrincipalComponents(p.Context(), *p.Data(), p.Shape().M, p.Threads())
	if err != nil {
		return nil, 0, err
	}
	flat := p.place(*p.Data(), pc.Mean, pc.Axes)
	return flat.x, flat.spread, nil
}

// place returns the flat sheet through c along the first d axes, with the projections of the rows onto it. It reads
// the rows once. They must have no missing entries.
func (p *Problem) place(whole Data, c, axes []float64) *placed {
	f := p.Shape()
	at := &placed{x: framework.NewPoint(p.Blocks()), heights: make([]float64, whole.N*f.S)}
	copy(at.x[BlockC], c)
	dense.Transpose(at.x[BlockQ], axes, f.M, f.D)
	squares := make([]float64, whole.N)
	whole.EachProduct(c, axes[:f.M*f.D], squares, func(i int, products []float64) {
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
	return at
}
