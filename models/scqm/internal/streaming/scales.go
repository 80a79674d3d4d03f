package streaming

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Scales are estimates from the rows: their unit, Lambda, and the smoothing scale.
type Scales struct{ Unit, Lambda, Rounding float64 }

// onlineSmoothing is the smoothing length of [Problem.SumAll], relative to the smoothing scale.
const onlineSmoothing = 0.1

// Scales returns the scales of the problem, found by its starts.
func (p *Problem) Scales() Scales { return Scales{p.unit, p.Lambda, p.scale} }

// SetScales sets scales found on other rows, for rows that are seen once.
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
