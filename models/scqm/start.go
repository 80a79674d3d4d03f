package scqm

import (
	"math"
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
	"gonum.org/v1/gonum/floats"
)

// bend moves a principal component start to the best Theta, in the sense of
// least squares, for its c, V and tau,
//
//	Theta = argmin sum_i w_i |V'(x_i - c) - Theta' (phi_i - mean phi)|^2,
//
// and c by -V Theta' mean phi. With Theta = 0 the cost does not depend on V,
// and methods for all blocks at once lose their first steps finding a scale.
func (p *Problem) bend(x framework.Point) {
	f := p.sheet
	if f.s == 0 {
		return
	}
	f.load(x[BlockC], x[BlockQ], x[BlockTheta])
	// In units of the longest tau, products of features do not overflow.
	unit := floats.Norm(x[BlockTau], math.Inf(1))
	if unit == 0 {
		return
	}
	if p.bender == nil {
		p.bender = newBender(f)
	}
	k := p.bender
	k.sum(p.data, x[BlockTau], unit)
	factorize(k.gram, f.q)
	for j := range f.s {
		column := k.rhs[j*f.q : (j+1)*f.q]
		choleskySolve(column, k.gram, f.q)
		floats.AddScaled(x[BlockC], -floats.Dot(column, k.mean), f.axis(f.d+j))
		for a, v := range column {
			x[BlockTheta][a*f.s+j] = v / unit / unit
		}
	}
}

// bender holds the normal equations of Theta.
type bender struct {
	f         *sheet
	mean, phi []float64 // q
	tau       []float64 // d
	diff      []float64 // D
	gram      []float64 // q x q: sum of w (phi - mean)(phi - mean)'
	rhs       []float64 // s x q: sum of w V'(x - c) (phi - mean)'
}

func newBender(f *sheet) *bender {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &bender{
		f: f, mean: vec(f.q), phi: vec(f.q), tau: vec(f.d), diff: vec(f.D),
		gram: vec(f.q * f.q), rhs: vec(f.s * f.q),
	}
}

// features writes those of row i, in the unit given, into phi.
func (k *bender) features(tau []float64, i int, unit float64) {
	for j := range k.tau {
		k.tau[j] = tau[i*k.f.d+j] / unit
	}
	vech(k.phi, k.tau)
}

func (k *bender) sum(x Data, tau []float64, unit float64) {
	f := k.f
	clear(k.mean)
	clear(k.gram)
	clear(k.rhs)
	var total float64
	for i := range x.N {
		w := x.weight(i)
		k.features(tau, i, unit)
		floats.AddScaled(k.mean, w, k.phi)
		total += w
	}
	floats.Scale(1/total, k.mean)
	for i := range x.N {
		w := x.weight(i)
		k.features(tau, i, unit)
		floats.Sub(k.phi, k.mean)
		floats.SubTo(k.diff, x.Row(i), f.c)
		for a, v := range k.phi {
			floats.AddScaled(k.gram[a*f.q:(a+1)*f.q], w*v, k.phi)
		}
		for j := range f.s {
			floats.AddScaled(k.rhs[j*f.q:(j+1)*f.q], w*floats.Dot(f.axis(f.d+j), k.diff), k.phi)
		}
	}
}

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
		p.bend(x)
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
