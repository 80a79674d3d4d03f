package streaming

import (
	"math/rand/v2"
	"slices"

	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/solvers"
)

// Parts implements [latent.Sampler], for losses that cannot be swept and have second
// derivatives.
func (p *Problem) Parts() int {
	if p.draws == nil || p.OuterBlocks() != nil {
		return 0
	}
	if shape, fits := p.ArrowheadShape(); !fits || shape.Outer > solvers.StreamedOuter {
		return 0
	}
	return blocks.Count(p.n)
}

// Sample implements [latent.Sampler]: the first blocks of an order in which any few in a row
// are spread evenly over the table.
func (p *Problem) Sample(count int) {
	d, all := p.draws, blocks.Count(p.n)
	if p.sample == nil {
		d.whole = p.Lambda
	}
	p.sample, p.Lambda = nil, d.whole
	if count == all {
		return
	}
	if d.order == nil {
		d.order = orderOf(all, rand.New(rand.NewPCG(d.seed, 1)))
	}
	p.sample = slices.Clone(d.order[:count])
	slices.Sort(p.sample)
	p.Lambda *= float64(count) / float64(all)
}

// SamplingError implements [latent.Sampler]. If the loss |r|^p in D - d directions is a negative log-density
// up to scale, the minimum for n rows and P parameters is expected to exceed that of all rows by Pp/2n(D - d)
// of the cost; this is the value for p = 2:
//
//	P / (n (D - d)).
func (p *Problem) SamplingError(count int) float64 {
	shape, _ := p.ArrowheadShape()
	return float64(shape.Outer) / float64(count*blocks.Rows) / float64(max(1, p.shape.D-p.shape.Latent))
}
