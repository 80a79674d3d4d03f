package streaming

import (
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/planes"
)

// Starts computes the point from which a fit begins.
type Starts struct {
	p      *Problem
	ridge  float64
	mean   []float64
	axes   []float64 // m x D
	id     []byte    // fingerprint of the data
	sample rows.Data
	from   framework.Point // c, Q and Theta, see [Starts.Begin]
}

// NewStarts computes mean, unit and a sample of the rows, with its principal components, in one read. It takes one
// more read if a row may be too far from the others. The components need not be those of all rows: fits end at the
// same minimum from either.
func (p *Problem) NewStarts() (*Starts, error) {
	s := &Starts{p: p}
	return s, s.components(p.shape.M)
}

// ID returns a fingerprint of the data, computed from their moments.
func (s *Starts) ID() []byte { return s.id }

// Sample returns a sample of evenly spread rows, in memory.
func (s *Starts) Sample() rows.Data { return s.sample }

// Begin sets the number of directions of curvature, at most that of the problem so far, the scale-free penalty, and the
// sheet from which the fit begins: c, Q and Theta, nil for that of the principal components.
func (s *Starts) Begin(directions int, ridge float64, from framework.Point) {
	s.p.reshape(directions)
	s.ridge, s.from = ridge, from
}

// Point returns the start. If it is not given, it is the principal components with the least-squares Theta. Point sets
// the penalty, by the cost of the principal plane, and the smoothing scale.
func (s *Starts) Point() (framework.Point, error) {
	x, err := s.principal()
	if err != nil {
		return nil, err
	}
	if s.from != nil {
		x = s.from.Clone()
	}
	return x, s.findScale(x)
}

// components computes mean, unit and sample, and the principal axes of the sample.
func (s *Starts) components(k int) error {
	p, D := s.p, s.p.shape.D
	count := max(min(max(leastSample, sampleNumbers/D), planes.SampleRows), 2*k)
	sums, sample, err := p.sum(&blocks.Request{Kind: blocks.Moments, N: p.n, D: D, Stride: max(1, p.n/count)})
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
	s.mean = slices.Clone(m.Mean(D))
	if s.sample = sampled(sample, D); s.sample.N == 0 {
		s.sample = rows.Data{N: 1, D: D, X: s.mean, Weights: []float64{1}}
	}
	if err := p.validateSpread(m.Farthest(), s.sample); err != nil {
		return err
	}
	if p.unit = math.Sqrt(p.spread); !(p.unit > 0) {
		p.unit = 1
	}
	for _, v := range m[:3+D] {
		s.id = fmt.Appendf(s.id, "%x ", math.Float64bits(v))
	}
	pc, err := rows.PrincipalComponents(p.ctx, s.sample, k, 1)
	if err != nil {
		return err
	}
	s.axes = pc.Axes
	return nil
}

// sampleNumbers bounds the entries of the sample of rows used for planes, curvature and distances between rows;
// it has at least leastSample rows.
const sampleNumbers, leastSample = 1 << 19, 64

// sampled returns the rows of positive weight of a sample, which lists rows [w, x].
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

// principal returns the principal components with the least-squares Theta, and sets the penalty. It reads the rows
// once.
func (s *Starts) principal() (framework.Point, error) {
	p, f := s.p, s.p.shape
	x, sums, err := s.flatSheet(s.axes[:f.M*f.D])
	if err != nil {
		return nil, err
	}
	m := p.load(x, sums[1:])
	if s.ridge != 0 && f.S > 0 {
		if p.Regularizer, err = objective.Regularized(s.ridge, sums[0], p.weight, p.spread); err != nil {
			return nil, err
		}
	}
	p.outer.FlatTheta(x, m, p.Regularizer)
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
