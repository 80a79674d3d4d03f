package streaming

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Scales holds estimates from the rows: their length unit, Lambda, and the smoothing scale.
type Scales struct{ Unit, Lambda, Rounding float64 }

// onlineSmoothing is the smoothing length of [Problem.SumAll], relative to the smoothing scale.
const onlineSmoothing = 0.1

// Scales returns the scales of the problem, which its starts have computed.
func (p *Problem) Scales() Scales { return Scales{p.unit, p.Lambda, p.scale} }

// findScale sets the smoothing scale for a start.
func (s *Starts) findScale(x framework.Point) error {
	p := s.p
	p.scale, p.eps, p.lastEps = 0, 0, 0
	_, kinks := p.loss.(framework.Smoother)
	_, radial := p.loss.(framework.Radial)
	if kinks && (!radial || meetsKinks(p.loss, p.shape)) {
		p.scale = s.medianSize(x, !radial)
	}
	return p.ctx.Err()
}

// MedianResidual returns the median distance of the rows from the best flat sheet, or the median size of their
// entries, estimated from the sample of the rows. The problem is that of a flat sheet; its loss is ignored.
func (p *Problem) MedianResidual(entries bool) (float64, error) {
	s, err := p.NewStarts()
	if err != nil {
		return 0, err
	}
	x := framework.NewPoint(p.blocks)
	copy(x[objective.BlockC], s.mean)
	dense.Transpose(x[objective.BlockQ], s.axes, p.shape.Latent, p.shape.D)
	return s.medianSize(x, entries), nil
}

// medianSize returns the weighted median of the residuals of the sample that are not 0, at Euclidean projections: of
// their norms, or of the sizes of their entries.
func (s *Starts) medianSize(at framework.Point, entries bool) float64 {
	f := s.p.f
	f.Load(at[objective.BlockC], at[objective.BlockQ], at[objective.BlockTheta])
	projection := nearest.NewProjection(f)
	tau, z, phi, r := make([]float64, f.Latent), make([]float64, f.M), make([]float64, f.Q), make([]float64, f.D)
	var sizes, weights []float64
	for i, w := range s.sample.Weights {
		projection.Load(s.sample.Row(i))
		projection.Find(tau)
		f.Coordinates(z, phi, tau)
		f.Residual(r, z, s.sample.Row(i))
		list := r
		if !entries {
			list = []float64{floats.Norm(r, 2)}
		}
		for _, v := range list {
			if v != 0 {
				sizes, weights = append(sizes, math.Abs(v)), append(weights, w)
			}
		}
	}
	if sizes == nil {
		return 0
	}
	stat.SortWeighted(sizes, weights)
	return stat.Quantile(0.5, stat.Empirical, sizes, weights)
}

// SetScales sets scales that were computed from other rows, for rows that can be read only once.
func (p *Problem) SetScales(s Scales) {
	p.online = true
	p.unit, p.Lambda, p.scale = s.Unit, s.Lambda, s.Rounding
}

// SumAll returns the sums of a sweep over all rows at a point.
func (p *Problem) SumAll(x framework.Point) ([]float64, error) {
	p.eps = onlineSmoothing * p.scale
	sums, _, err := p.sum(p.request(blocks.Sweep, x))
	p.eps = 0
	return sums, err
}

// NewAverage returns an average of sweeps that begins at a point.
func (p *Problem) NewAverage(x framework.Point) *alternating.Average {
	p.f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	return alternating.NewAverage(p.f, p.unit)
}
