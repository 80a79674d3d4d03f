package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// Gaps are the relative distances from the best objective that work is
// counted up to.
var Gaps = [2]float64{1e-3, 1e-6}

// Comparison compares solvers on one kind of fit. Where there are several sets
// of rows, work and time are medians.
type Comparison struct {
	Regime string      `json:"regime"`
	Title  string      `json:"title"`
	Loss   string      `json:"loss"`
	N      int         `json:"n"`
	D      int         `json:"D"`
	Latent int         `json:"d"`
	Ridge  float64     `json:"ridge"`
	Sets   int         `json:"sets"`
	Best   float64     `json:"best"` // lowest cost by any solver, mean over the sets
	PCA    Floor       `json:"pca"`
	Fitter *FitterRate `json:"fitter,omitempty"`
	Runs   []*Run      `json:"runs"`

	best []float64 // of each set
}

// Run is one solver on one case. Costs are objectives with penalty.
type Run struct {
	Solver       string         `json:"solver"`
	Note         string         `json:"note,omitempty"` // why it was left out
	Cost         *float64       `json:"cost"`           // mean over the sets
	Excess       *float64       `json:"excess"`         // over the best, relative; median over the sets
	Statuses     map[string]int `json:"statuses"`       // how many sets ended so
	Stationarity []float64      `json:"stationarity"`   // of c, Q, Theta, tau; the largest over the sets
	Iterations   float64        `json:"iterations"`
	Passes       float64        `json:"passes"`
	Seconds      float64        `json:"seconds"` // of whole fits
	Gaps         []Gap          `json:"gaps"`    // from the best cost of any solver
	Own          []Gap          `json:"own"`     // from the last cost of this solver

	outcomes []*outcome
}

// Gap is the work up to a gap, nil where that was never reached. Factors
// say how much more the reference took; where the reference never got there,
// all of its work counts, which makes them lower bounds.
type Gap struct {
	Gap           float64  `json:"gap"`
	Passes        *float64 `json:"passes"`
	Seconds       *float64 `json:"seconds"`
	PassesFactor  *float64 `json:"passes_factor"`
	SecondsFactor *float64 `json:"seconds_factor"`
	AtLeast       bool     `json:"at_least"`
}

func newComparison(p *Problem) *Comparison {
	x := p.sets[0]
	loss := p.LossName
	if l, ok := p.losses[0].(rowloss.Parametric); ok && len(p.sets) == 1 {
		for _, key := range slices.Sorted(maps.Keys(l.Params())) {
			loss += fmt.Sprintf(" %s=%.3g", key, l.Params()[key])
		}
	}
	return &Comparison{
		Regime: p.regime.Name, Title: p.regime.Title, Loss: loss, N: x.N, D: x.D, Latent: Latent,
		Ridge: p.regime.ridge, Sets: len(p.sets),
	}
}

// History returns the iterations of a run on one of the sets of rows, beside the
// lowest cost by any solver there. It is nil for a run that was left out.
func (c *Comparison) History(r *Run, set int) (records []framework.Record, best float64) {
	if r.outcomes == nil {
		return nil, c.best[set]
	}
	return r.outcomes[set].history, c.best[set]
}

// evaluate computes what only the end of all runs shows.
func (c *Comparison) evaluate() {
	c.best = make([]float64, c.Sets)
	for k := range c.best {
		c.best[k] = math.Inf(1)
		for _, r := range c.Runs {
			if r.outcomes != nil {
				c.best[k] = math.Min(c.best[k], r.outcomes[k].cost)
			}
		}
		c.Best += c.best[k] / float64(c.Sets)
	}
	for _, r := range c.Runs {
		r.summarize(c.best)
	}
	last := c.Runs[len(c.Runs)-1]
	for _, r := range c.Runs {
		for i := range r.Gaps {
			r.Gaps[i].relate(last.Gaps[i], last)
		}
	}
}

// summarize takes means, medians and maxima over the sets.
func (r *Run) summarize(best []float64) {
	r.Statuses = map[string]int{}
	if r.outcomes == nil {
		return
	}
	of := func(value func(o *outcome, k int) float64) float64 {
		var list []float64
		for k, o := range r.outcomes {
			list = append(list, value(o, k))
		}
		return median(list)
	}
	r.Cost, r.Stationarity = new(0.0), make([]float64, len(r.outcomes[0].stationarity))
	for _, o := range r.outcomes {
		*r.Cost += o.cost / float64(len(best))
		r.Statuses[o.status.String()]++
		for b, v := range o.stationarity {
			r.Stationarity[b] = math.Max(r.Stationarity[b], v)
		}
	}
	r.Excess = new(of(func(o *outcome, k int) float64 { return RelativeGap(o.cost, best[k]) }))
	r.Iterations = of(func(o *outcome, _ int) float64 { return float64(o.iterations) })
	r.Passes = of(func(o *outcome, _ int) float64 { return o.passes })
	r.Seconds = of(func(o *outcome, _ int) float64 { return o.elapsed.Seconds() })
	for _, gap := range Gaps {
		passes := func(o *outcome, goal float64) float64 { return o.reach(goal, gap).Passes }
		seconds := func(o *outcome, goal float64) float64 {
			if math.IsInf(passes(o, goal), 0) {
				return math.Inf(1)
			}
			return o.reach(goal, gap).Elapsed.Seconds()
		}
		r.Gaps = append(r.Gaps, Gap{Gap: gap,
			Passes:  finite(of(func(o *outcome, k int) float64 { return passes(o, best[k]) })),
			Seconds: finite(of(func(o *outcome, k int) float64 { return seconds(o, best[k]) })),
		})
		r.Own = append(r.Own, Gap{Gap: gap,
			Passes:  finite(of(func(o *outcome, _ int) float64 { return passes(o, o.cost) })),
			Seconds: finite(of(func(o *outcome, _ int) float64 { return seconds(o, o.cost) })),
		})
	}
}

// reach returns the first record of a run within a relative gap of a cost, one
// with infinitely many passes where there is none.
func (o *outcome) reach(goal, gap float64) framework.Record {
	for _, r := range o.history {
		if RelativeGap(r.Cost, goal) <= gap {
			return r
		}
	}
	return framework.Record{Counts: framework.Counts{Passes: math.Inf(1)}}
}

// RelativeGap returns how far a cost is above a goal, in units of the goal.
func RelativeGap(cost, goal float64) float64 {
	if cost == goal {
		return 0
	}
	return (cost - goal) / math.Abs(goal)
}

// relate computes the factors from the work of the reference.
func (g *Gap) relate(other Gap, whole *Run) {
	if g.Passes == nil || g.Seconds == nil {
		return
	}
	passes, seconds := whole.Passes, whole.Seconds
	if g.AtLeast = other.Passes == nil; !g.AtLeast {
		passes, seconds = *other.Passes, *other.Seconds
	}
	g.PassesFactor = finite(passes / math.Max(*g.Passes, 1))
	g.SecondsFactor = finite(seconds / *g.Seconds)
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}
