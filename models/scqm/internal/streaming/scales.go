package streaming

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Scales are estimates from the rows: their unit, Lambda, and the smoothing scale.
type Scales struct{ Unit, Lambda, Rounding float64 }

// Scales returns the scales of the problem, found by its starts.
func (p *Problem) Scales() Scales { return Scales{p.unit, p.Lambda, p.scale} }

// SetScales sets scales found on other rows; for [Problem.DrawAll], not for draws of blocks.
func (p *Problem) SetScales(s Scales) {
	p.draws = &draws{}
	p.unit, p.Lambda, p.scale = s.Unit, s.Lambda, s.Rounding
}

// DrawAll returns the sums of a draw of all rows at a point.
func (p *Problem) DrawAll(x framework.Point) ([]float64, error) {
	p.eps = drawnRounding * p.scale
	sums, _, err := p.sum(p.request(blocks.Sweep, x))
	p.eps = 0
	return sums, err
}

// NewAverage returns an average of draws that begins at a point.
func (p *Problem) NewAverage(x framework.Point) *alternating.Average {
	p.f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	return alternating.NewAverage(p.f, p.unit)
}

// CostOfAll returns the objective at a point, with projected rows, for a penalty factor Lambda.
func (p *Problem) CostOfAll(x framework.Point, lambda float64) (float64, error) {
	defer func(eps float64, placed bool) { p.eps, p.placed = eps, placed }(p.eps, p.placed)
	p.eps, p.placed = 0, rowloss.StructureOf(p.loss) != rowloss.StructureRadial
	o, err := p.firstOrder(x)
	if err != nil {
		return 0, err
	}
	return o.Cost + objective.Regularizer{Lambda: lambda}.PenaltyOf(p.shape, nil, x[objective.BlockTheta]), nil
}
