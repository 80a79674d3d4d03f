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

// Comparison compares solvers on one fit.
type Comparison struct {
	Regime string  `json:"regime"`
	Title  string  `json:"title"`
	Loss   string  `json:"loss"`
	N      int     `json:"n"`
	D      int     `json:"D"`
	Latent int     `json:"d"`
	Best   float64 `json:"best"` // lowest cost by any solver
	PCA    Floor   `json:"pca"`
	Runs   []*Run  `json:"runs"`
}

// Run is one solver on one fit.
type Run struct {
	Solver       string             `json:"solver"`
	Note         string             `json:"note,omitempty"` // why it was left out: then there is nothing else
	Cost         float64            `json:"cost"`           // objective with penalty
	Excess       float64            `json:"excess"`         // over the best, relative
	Status       string             `json:"status"`
	Stationarity []float64          `json:"stationarity"` // of c, Q, Theta, tau
	Iterations   int                `json:"iterations"`
	Passes       float64            `json:"passes"`
	Seconds      float64            `json:"seconds"` // of the whole fit, start and report included
	Gaps         []Gap              `json:"gaps"`    // from the best cost of any solver
	Own          []Gap              `json:"own"`     // from the last cost of this solver
	History      []framework.Record `json:"-"`
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
	loss := p.LossName
	if l, ok := p.loss.(rowloss.Parametric); ok {
		for _, key := range slices.Sorted(maps.Keys(l.Params())) {
			loss += fmt.Sprintf(" %s=%.3g", key, l.Params()[key])
		}
	}
	return &Comparison{Regime: p.regime.Name, Title: p.regime.Title, Loss: loss, N: p.x.N, D: p.x.D, Latent: Latent}
}

// evaluate computes what only the end of all runs shows.
func (c *Comparison) evaluate() {
	c.Best = math.Inf(1)
	for _, r := range c.Runs {
		if r.Note == "" {
			c.Best = math.Min(c.Best, r.Cost)
		}
	}
	last := c.Runs[len(c.Runs)-1]
	for _, r := range slices.Backward(c.Runs) {
		if r.Note != "" {
			continue
		}
		r.Excess = RelativeGap(r.Cost, c.Best)
		for i, gap := range Gaps {
			r.Gaps = append(r.Gaps, r.reach(c.Best, gap))
			r.Own = append(r.Own, r.reach(r.Cost, gap))
			r.Gaps[i].relate(last.Gaps[i], last)
		}
	}
}

// reach returns the work of a run up to a relative gap of a cost.
func (r *Run) reach(goal, gap float64) Gap {
	for _, at := range r.History {
		if RelativeGap(at.Cost, goal) <= gap {
			return Gap{Gap: gap, Passes: new(at.Passes), Seconds: new(at.Elapsed.Seconds())}
		}
	}
	return Gap{Gap: gap}
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
