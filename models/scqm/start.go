package scqm

import (
	"math"
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
	"gonum.org/v1/gonum/floats"
)

// rotatedComponents is the number of leading principal components that
// starts beyond the first are drawn from, or m where that is larger.
const rotatedComponents = 6

// starts makes the points from which runs begin.
type starts struct {
	p     *Problem
	c     Config
	pc    *pca
	count int
}

// newStarts finds the principal components and sets the penalty, which is that
// of the first start for all.
func (p *Problem) newStarts(c Config) (*starts, error) {
	k := p.sheet.m
	if c.Inits > 1 {
		k = min(max(k, rotatedComponents), p.sheet.D)
	}
	pc, err := principalComponents(p.ctx, p.data, k, p.threads)
	if err != nil {
		return nil, err
	}
	s := &starts{p: p, c: c, pc: pc, count: max(c.Inits, 1)}
	first := framework.NewPoint(p.blocks)
	p.place(first, pc.mean, pc.axes[:p.sheet.m*p.sheet.D])
	return s, p.setRidge(c.Ridge, first, p.spread(pc.mean))
}

// flatStart returns the principal component start with Theta = 0, and the mean
// squared distance of the rows from their mean.
func (p *Problem) flatStart() (framework.Point, float64, error) {
	pc, err := principalComponents(p.ctx, p.data, p.sheet.m, p.threads)
	if err != nil {
		return nil, 0, err
	}
	x := framework.NewPoint(p.blocks)
	p.place(x, pc.mean, pc.axes)
	return x, p.spread(pc.mean), nil
}

// point returns start number k: the principal components, and for k > 0 a random
// rotation of the leading ones.
func (s *starts) point(k int) (framework.Point, error) {
	p, f := s.p, s.p.sheet
	axes := s.pc.axes[:f.m*f.D]
	if k > 0 {
		r := len(s.pc.axes) / f.D
		turn := manifolds.NewStiefel(r, f.m)
		q := make([]float64, r*f.m)
		turn.Rand(q, rand.New(rand.NewPCG(s.c.Seed, uint64(k))))
		axes = make([]float64, f.m*f.D)
		for i := range r {
			for j := range f.m {
				floats.AddScaled(axes[j*f.D:(j+1)*f.D], q[i*f.m+j], s.pc.axes[i*f.D:(i+1)*f.D])
			}
		}
	}
	x := framework.NewPoint(p.blocks)
	p.place(x, s.pc.mean, axes)
	if err := p.blocks[BlockQ].Restore(x[BlockQ]); err != nil {
		return nil, err
	}
	if s.c.ThetaScale > 0 {
		if h := math.Sqrt(p.spread(s.pc.mean)); h > 0 {
			rng := rand.New(rand.NewPCG(s.c.Seed, uint64(k)))
			for i := range x[BlockTheta] {
				x[BlockTheta][i] = s.c.ThetaScale / h * rng.NormFloat64()
			}
		}
	} else if !p.published {
		p.solveTheta(x)
	}
	return x, nil
}

// place writes the flat sheet through c along the first d axes into x, with the
// projections of the rows.
func (p *Problem) place(x framework.Point, c, axes []float64) {
	f := p.sheet
	copy(x[BlockC], c)
	transpose(x[BlockQ], axes, f.m, f.D)
	clear(x[BlockTheta])
	diff := make([]float64, f.D)
	for i := range p.data.N {
		floats.SubTo(diff, p.data.Row(i), c)
		for j := range f.d {
			x[BlockTau][i*f.d+j] = floats.Dot(axes[j*f.D:(j+1)*f.D], diff)
		}
	}
}

// spread returns the weighted mean squared distance of the rows from c.
func (p *Problem) spread(c []float64) float64 {
	var sum, total float64
	for i := range p.data.N {
		length, w := floats.Distance(p.data.Row(i), c, 2), p.data.weight(i)
		sum += w * length * length
		total += w
	}
	return sum / total
}
