package objective

import "github.com/scqm/scqm/framework"

// measured is the first-order system at the point evaluated last, with what it depends on
// beside the point: runs ask for it where they stop, at the point that they return, and for the
// report. Whatever changes the data, the multipliers or the point drops it.
type measured struct {
	kept   bool // the rest belongs to Objective.at
	system firstOrder
	lambda float64
	loss   int // see smoothing.changes
	// plain says that the loss in use was the only one measured with: then system.cost is the
	// cost of the point.
	plain bool
}

// measuredAt reports whether the system at x is known, not that of a point nearby. A context that
// is done ends this too.
func (p *Objective) measuredAt(x framework.Point) bool {
	m := &p.measured
	return m.kept && m.lambda == p.Lambda && m.loss == p.smoothing.changes && p.Prior == nil &&
		p.ctx.Err() == nil && p.at.Equal(x)
}

// measure keeps a system found at the point evaluated last.
func (p *Objective) measure(system firstOrder) {
	p.measured = measured{
		kept: p.Prior == nil, system: system, lambda: p.Lambda, loss: p.smoothing.changes,
		plain: p.smoothing.inUse() == nil && len(p.multipliers) == 0,
	}
}

// knownCost returns the cost at x without a pass over the rows, where nothing that a pass leaves
// behind is missing.
func (p *Objective) knownCost(x framework.Point) (float64, bool) {
	if !p.measured.plain || p.kept != (p.residuals != nil) || !p.measuredAt(x) {
		return 0, false
	}
	p.sheet.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	return p.measured.system.cost, true
}
