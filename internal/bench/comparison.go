package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// Gaps are relative distances from the best objective. The work that a solver takes to
// reach each one is counted.
var Gaps = [2]float64{1e-3, 1e-6}

// Comparison is the result of all solvers on one fit.
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

// Run is the result of one solver on one fit.
type Run struct {
	Solver       string             `json:"solver"`
	Note         string             `json:"note,omitempty"` // why the solver was left out; then all other fields are empty
	Cost         float64            `json:"cost"`           // objective with penalty
	Excess       float64            `json:"excess"`         // relative distance of Cost from the lowest cost
	Status       string             `json:"status"`
	Stationarity []float64          `json:"stationarity"` // one measure for each of c, Q, Theta, tau
	Iterations   int                `json:"iterations"`
	Passes       float64            `json:"passes"`
	Seconds      float64            `json:"seconds"` // of the whole fit, including its start and its report
	Gaps         []Gap              `json:"gaps"`    // work to come close to the lowest cost of any solver
	Own          []Gap              `json:"own"`     // work to come close to the last cost of this solver
	History      []framework.Record `json:"-"`
}

// Gap is the work that a run takes to reach a relative gap, nil if it never does. Factors
// are the work of the reference divided by that of the run. If the reference never reaches
// the gap, all of its work counts, and the factors are lower bounds.
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

// evaluate computes the numbers that depend on all runs, such as the lowest cost.
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

// reach returns the work that a run takes to come within a relative gap of a cost.
func (r *Run) reach(goal, gap float64) Gap {
	for _, at := range r.History {
		if RelativeGap(at.Cost, goal) <= gap {
			return Gap{Gap: gap, Passes: new(at.Passes), Seconds: new(at.Elapsed.Seconds())}
		}
	}
	return Gap{Gap: gap}
}

// RelativeGap returns (cost - goal) / goal.
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
