package scqm

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
)

const (
	// directSecond is the number of columns up to which all second moments are summed.
	directSecond = 1024
	// spareColumns are iterated beside the directions wanted, in rangePasses reads.
	spareColumns, rangePasses = 10, 4
	// flatAxis is the standard deviation along an axis, relative to the largest, below
	// which it is a rounding error of the squares that it was found from, and flatOffset
	// the same relative to the mean.
	flatAxis, flatOffset = 1e-7, 1e-15
)

// streamStarts makes the points from which a fit begins.
type streamStarts struct {
	p         *streamProblem
	c         Config
	mean      []float64
	axes      []float64 // k x D
	variances []float64 // k
	id        []byte    // tells data apart
}

// newStreamStarts finds mean, principal components and, with the loss of the flat sheet,
// the penalty: one read for the components of up to 1024 columns, else five, and one for
// the rest.
func (p *streamProblem) newStreamStarts(c Config) (*streamStarts, error) {
	s := &streamStarts{p: p, c: c}
	k := p.shape.M
	if c.Inits > 1 {
		k = min(max(k, rotatedComponents), p.shape.D)
	}
	if err := s.components(k); err != nil {
		return nil, err
	}
	return s, nil
}

// components fills mean, axes and the unit.
func (s *streamStarts) components(k int) error {
	p, D := s.p, s.p.shape.D
	r := &blocks.Request{Kind: blocks.Moments, N: p.n, D: D}
	if D > directSecond {
		r.Columns = -1
	}
	sums, _, err := p.sum(r)
	if err != nil {
		return err
	}
	m := rows.Moments(sums)
	if !(m.Weight() > 0) {
		return fmt.Errorf("scqm: all weights are 0: %w", ErrInput)
	}
	p.spread, p.weight = m.Spread(), m.Weight()
	if far := m.Farthest(); math.IsInf(p.spread, 0) || math.IsNaN(p.spread) || rows.UnitOf(far) != 1 {
		return fmt.Errorf("scqm: the rows are about %.0e in size, which is not streamed; divide all columns by that: %w", far, ErrInput)
	}
	if p.unit = math.Sqrt(p.spread); !(p.unit > 0) {
		p.unit = 1
	}
	for _, v := range m[:3+D] {
		s.id = fmt.Appendf(s.id, "%x ", math.Float64bits(v))
	}
	if D > directSecond {
		s.mean = append([]float64(nil), m.Mean(D)...)
		return s.rangeOf(k)
	}
	pc, values, err := rows.ComponentsOfMoments(p.ctx, m, D, k)
	if err != nil {
		return err
	}
	s.mean, s.axes, s.variances = pc.Mean, pc.Axes, values
	return nil
}

// rangeOf finds the leading directions of many columns by orthogonal iteration from
// random ones, with a projection on their span at the end.
//
// Source: N. Halko, P.-G. Martinsson, J. A. Tropp, Finding structure with randomness,
// SIAM Review 53 (2011).
func (s *streamStarts) rangeOf(k int) error {
	p, D := s.p, s.p.shape.D
	l := min(k+spareColumns, D)
	w := make([]float64, l*D)
	rng := rand.New(rand.NewPCG(1, 1)) // any start does, but always the same
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	for pass := range rangePasses {
		dense.OrthonormalizeRows(w, D)
		z, _, err := p.sum(&blocks.Request{Kind: blocks.Products, N: p.n, D: D, C: s.mean, Axes: w, Columns: l})
		if err != nil {
			return err
		}
		if pass < rangePasses-1 {
			w = z
			continue
		}
		if err := s.ritz(w, z, l, k); err != nil {
			return err
		}
	}
	return nil
}

// ritz takes the eigenvectors of W C W' for Z = W C.
func (s *streamStarts) ritz(w, z []float64, l, k int) error {
	D := s.p.shape.D
	small := mat.NewSymDense(l, nil)
	for i := range l {
		for j := range i + 1 {
			small.SetSym(i, j, (floats.Dot(w[i*D:(i+1)*D], z[j*D:(j+1)*D])+floats.Dot(w[j*D:(j+1)*D], z[i*D:(i+1)*D]))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(small, true) {
		return fmt.Errorf("scqm: principal components: eigenvalues did not converge: %w", ErrInput)
	}
	var v, axes mat.Dense
	eigen.VectorsTo(&v)
	axes.Mul(v.T(), mat.NewDense(l, D, w))
	values := eigen.Values(nil)
	s.axes, s.variances = make([]float64, k*D), make([]float64, k)
	for a := range k { // they ascend
		axis := s.axes[a*D : (a+1)*D]
		mat.Row(axis, l-1-a, &axes)
		s.variances[a] = math.Max(values[l-1-a], 0) / s.p.weight
		if axis[dense.MaxAbsIdx(axis)] < 0 {
			floats.Scale(-1, axis)
		}
	}
	return nil
}

// point returns start number k: the principal components, and for k > 0 a random
// rotation of the leading ones, with the Theta of least squares. The first one sets the
// penalty.
func (s *streamStarts) point(k int) (framework.Point, error) {
	p, f := s.p, s.p.shape
	axes := s.axes[:f.M*f.D]
	variances := s.variances[:f.M]
	if k > 0 {
		axes, variances = s.rotation(k)
	}
	x := framework.NewPoint(p.blocks)
	copy(x[BlockC], s.mean)
	dense.Transpose(x[BlockQ], axes, f.M, f.D)
	if err := p.blocks[BlockQ].Restore(x[BlockQ]); err != nil {
		return nil, err
	}
	r := p.request(blocks.Flat, x)
	sums, _, err := p.sum(r)
	if err != nil {
		return nil, err
	}
	if math.IsInf(sums[0], 0) || math.IsNaN(sums[0]) {
		return nil, rows.ErrOverflow
	}
	m := p.load(x, sums[1:])
	if k == 0 {
		if err := p.scaleRidge(s.c.ridge(), sums[0]); err != nil {
			return nil, err
		}
	}
	if s.c.ThetaScale > 0 {
		rng := rand.New(rand.NewPCG(s.c.Seed, uint64(k)))
		for i := range x[BlockTheta] {
			x[BlockTheta][i] = s.c.ThetaScale / p.unit * rng.NormFloat64()
		}
		return x, nil
	}
	p.outer.FlatTheta(x, m, s.flat(variances), p.lambda, p.maxPenalty)
	return x, nil
}

// rotation turns the leading components at random.
func (s *streamStarts) rotation(k int) (axes, variances []float64) {
	f := s.p.shape
	r := len(s.variances)
	turn := manifolds.NewStiefel(r, f.M)
	q := make([]float64, r*f.M)
	turn.Rand(q, rand.New(rand.NewPCG(s.c.Seed, uint64(k))))
	axes, variances = make([]float64, f.M*f.D), make([]float64, f.M)
	for i := range r {
		for j := range f.M {
			floats.AddScaled(axes[j*f.D:(j+1)*f.D], q[i*f.M+j], s.axes[i*f.D:(i+1)*f.D])
			variances[j] += q[i*f.M+j] * q[i*f.M+j] * s.variances[i]
		}
	}
	return axes, variances
}

// flat lists the axes along which the rows do not differ but for rounding.
func (s *streamStarts) flat(variances []float64) []bool {
	list := make([]bool, len(variances))
	least := flatAxis*math.Sqrt(s.variances[0]) + flatOffset*floats.Norm(s.mean, math.Inf(1))
	for k, v := range variances {
		list[k] = math.Sqrt(v) <= least
	}
	return list
}

// scaleRidge turns the scale-free ridge into Lambda; see [Problem.scaleRidge].
func (p *streamProblem) scaleRidge(ridge, flat float64) error {
	if ridge == 0 || p.shape.S == 0 {
		return nil
	}
	p.lambda, p.maxPenalty = ridge*flat/p.weight*p.spread, flat
	if math.IsInf(p.lambda, 0) || math.IsNaN(p.lambda) {
		return fmt.Errorf("scqm: the ridge overflows at the scale of the data; rescale them: %w", ErrInput)
	}
	return nil
}
