package streaming

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/planes"
)

const (
	// flatAxis is the standard deviation along an axis, relative to the largest, below which it is only
	// rounding error, and flatOffset the same relative to the mean.
	flatAxis, flatOffset = 1e-7, 1e-15
)

// Settings are the settings of the starts of a fit.
type Settings struct {
	// Starts is the number of them. Those beyond the axes given to [Starts.Begin] are
	// drawn from so many leading Components, or from m where that is more.
	Starts, Components int
	// Seed is that of random numbers.
	Seed uint64
	// Ridge is the scale-free penalty.
	Ridge float64
}

// Starts computes the points from which a fit begins.
type Starts struct {
	p         *Problem
	c         Settings
	mean      []float64
	axes      []float64 // k x D
	variances []float64 // k
	id        []byte    // tells data apart
	sample    rows.Data
	given     [][]float64 // axes of the first starts, see [Starts.Begin]
	plane     float64     // cost of the principal plane; 0 where it has not been read
}

// NewStarts computes mean, unit and principal components in one read (more than 400 columns: up to 14), and one
// more where a row may be too far from the others.
func (p *Problem) NewStarts(c Settings) (*Starts, error) {
	s := &Starts{p: p, c: c}
	k := p.shape.M
	if c.Starts > 1 {
		k = min(max(k, c.Components), p.shape.D)
	}
	if err := s.components(k); err != nil {
		return nil, err
	}
	return s, nil
}

// ID is a fingerprint of the data, from their moments.
func (s *Starts) ID() []byte { return s.id }

// Sample returns some of the rows, evenly spread, in memory.
func (s *Starts) Sample() rows.Data { return s.sample }

// Principal returns the first m principal axes.
func (s *Starts) Principal(m int) []float64 { return s.axes[:m*s.p.shape.D] }

// Begin sets the number of directions of curvature, at most that of the problem so far, the ridge, and the axes
// of the first starts, each (d + s) x D.
func (s *Starts) Begin(directions int, ridge float64, given [][]float64) {
	s.p.reshape(directions)
	s.c.Ridge, s.given = ridge, given
}

// Point returns start number k: one of those given, or the principal components, and then random rotations of
// the leading ones, with the Theta of least squares. The first one sets the penalty, by the cost of the
// principal plane, each sets the smoothing scale.
func (s *Starts) Point(k int) (framework.Point, error) {
	x, err := s.point(k)
	if err != nil {
		return nil, err
	}
	return x, s.p.findScale(x)
}

// components computes mean, axes and the unit.
func (s *Starts) components(k int) error {
	p, D := s.p, s.p.shape.D
	r := &blocks.Request{Kind: blocks.Moments, N: p.n, D: D, Stride: max(1, p.n/min(max(leastSample, sampleNumbers/D), planes.SampleRows))}
	if D > rows.MaxExplicit {
		r.Columns = -1
	}
	sums, sample, err := p.sum(r)
	if err != nil {
		return err
	}
	m := rows.Moments(sums)
	if !(m.Weight() > 0) {
		return fmt.Errorf("scqm: all weights are 0: %w", rows.ErrInput)
	}
	p.spread, p.weight = m.Spread(), m.Weight()
	if err := rows.ValidateSize(m.Farthest()); err != nil {
		return err
	}
	if math.IsInf(p.spread, 0) || math.IsNaN(p.spread) {
		return rows.ErrOverflow
	}
	s.sample = sampled(sample, D)
	if err := p.validateSpread(m.Farthest(), s.sample); err != nil {
		return err
	}
	if p.unit = math.Sqrt(p.spread); !(p.unit > 0) {
		p.unit = 1
	}
	for _, v := range m[:3+D] {
		s.id = fmt.Appendf(s.id, "%x ", math.Float64bits(v))
	}
	var pc *rows.Components
	if D > rows.MaxExplicit {
		mean := append([]float64(nil), m.Mean(D)...)
		pc, s.variances, err = rows.ComponentsOfProducts(p.ctx, &moments{p, mean}, mean, p.weight, k)
	} else {
		pc, s.variances, err = rows.ComponentsOfMoments(p.ctx, m, D, k)
	}
	if err != nil {
		return err
	}
	s.mean, s.axes = pc.Mean, pc.Axes
	return nil
}

// sampleNumbers bounds the entries of the sample of rows used for planes, curvature and distances between rows;
// it has at least leastSample rows.
const sampleNumbers, leastSample = 1 << 19, 64

// sampled returns the rows of a sample of [w, x] with a positive weight.
func sampled(sample []float64, D int) rows.Data {
	some := rows.Data{D: D}
	for at := 0; at < len(sample); at += 1 + D {
		if w := sample[at]; w > 0 {
			some.X = append(some.X, sample[at+1:at+1+D]...)
			some.Weights = append(some.Weights, w)
		}
	}
	some.N = len(some.Weights)
	return some
}

// validateSpread rejects rows too far from the others, as [rows.Data.ValidateSpread] does, based on the
// distances within a sample.
func (p *Problem) validateSpread(farthest float64, some rows.Data) error {
	D := p.shape.D
	if some.N == 0 {
		return nil
	}
	middle, half, _, _ := some.Gaps()
	if !(2*farthest > rows.TooFar(half)) { // the mean is between the rows
		return nil
	}
	_, far, err := p.sum(&blocks.Request{Kind: blocks.Far, N: p.n, D: D, C: some.Row(middle), Eps: rows.TooFar(half)})
	if err != nil || len(far) == 0 {
		return err
	}
	return rows.FarRow(int(far[0]), farthest, half)
}

// moments are the second moments of all rows about their mean, a [rows.Symmetric].
type moments struct {
	p    *Problem
	mean []float64
}

// Order implements [rows.Symmetric].
func (m *moments) Order() int { return m.p.shape.D }

// Trace implements [rows.Symmetric].
func (m *moments) Trace() float64 { return m.p.spread * m.p.weight }

// Sketch implements [rows.Symmetric] with the random numbers of the blocks.
func (m *moments) Sketch(_ context.Context, dst []float64, _ *rand.Rand) error {
	return m.ask(dst, blocks.Sketch, nil)
}

// Multiply implements [rows.Symmetric].
func (m *moments) Multiply(_ context.Context, dst, v []float64) error {
	return m.ask(dst, blocks.Products, v)
}

func (m *moments) ask(dst []float64, kind blocks.Kind, axes []float64) error {
	D := m.Order()
	z, _, err := m.p.sum(&blocks.Request{Kind: kind, N: m.p.n, D: D, C: m.mean, Axes: axes, Columns: len(dst) / D})
	copy(dst, z)
	return err
}

func (s *Starts) point(k int) (framework.Point, error) {
	p, f := s.p, s.p.shape
	axes := s.axes[:f.M*f.D]
	variances := s.variances[:f.M]
	switch {
	case k < len(s.given):
		axes, variances = s.given[k], s.sampleVariances(s.given[k])
	case k > 0:
		axes, variances = s.rotation(k)
	}
	x, sums, err := s.flatSheet(axes)
	if err != nil {
		return nil, err
	}
	m := p.load(x, sums[1:])
	if k == 0 {
		if err := s.scaleRidge(axes, sums[0]); err != nil {
			return nil, err
		}
	}
	p.outer.FlatTheta(x, m, s.flat(variances), p.Regularizer)
	return x, nil
}

// flatSheet returns the flat sheet along axes, with its cost and the moments of its least squares.
func (s *Starts) flatSheet(axes []float64) (framework.Point, []float64, error) {
	p, f := s.p, s.p.shape
	x := framework.NewPoint(p.blocks)
	copy(x[objective.BlockC], s.mean)
	dense.Transpose(x[objective.BlockQ], axes, f.M, f.D)
	if err := p.blocks[objective.BlockQ].Restore(x[objective.BlockQ]); err != nil {
		return nil, nil, err
	}
	sums, _, err := p.sum(p.request(blocks.Flat, x))
	if err == nil && (math.IsInf(sums[0], 0) || math.IsNaN(sums[0])) {
		err = rows.ErrOverflow
	}
	return x, sums, err
}

// scaleRidge converts the ridge to Lambda by the cost of the principal plane, given with its axes or read once.
func (s *Starts) scaleRidge(axes []float64, cost float64) error {
	p := s.p
	if d := p.shape.Latent * p.shape.D; p.shape.S > 0 && s.c.Ridge > 0 && !slices.Equal(axes[:d], s.axes[:d]) {
		if s.plane == 0 {
			_, sums, err := s.flatSheet(s.axes[:p.shape.M*p.shape.D])
			if err != nil {
				return err
			}
			s.plane = sums[0]
		}
		cost = s.plane
	}
	if s.c.Ridge == 0 || p.shape.S == 0 {
		return nil
	}
	var err error
	p.Regularizer, err = objective.Regularized(s.c.Ridge, cost, p.weight, p.spread)
	return err
}

// rotation rotates the leading components at random.
func (s *Starts) rotation(k int) (axes, variances []float64) {
	f := s.p.shape
	axes, factors := planes.Rotation(s.axes, f.D, f.M, s.c.Seed, k)
	variances = make([]float64, f.M)
	for i, v := range factors {
		variances[i%f.M] += v * v * s.variances[i/f.M]
	}
	return axes, variances
}

// sampleVariances returns the variances of the sample along axes.
func (s *Starts) sampleVariances(axes []float64) []float64 {
	variances := make([]float64, s.p.shape.M)
	total := floats.Sum(s.sample.Weights)
	s.sample.EachProduct(s.mean, axes, nil, nil, func(i int, z []float64) {
		for j, v := range z {
			variances[j] += s.sample.Weights[i] / total * v * v
		}
	})
	return variances
}

// flat lists the axes along which the rows only differ by rounding.
func (s *Starts) flat(variances []float64) []bool {
	list := make([]bool, len(variances))
	least := flatAxis*math.Sqrt(s.variances[0]) + flatOffset*floats.Norm(s.mean, math.Inf(1))
	for k, v := range variances {
		list[k] = math.Sqrt(v) <= least
	}
	return list
}
