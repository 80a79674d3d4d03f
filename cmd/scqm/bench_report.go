package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/scqm/scqm/framework"
)

// benchGaps are the relative distances from the best objective that work is
// counted up to.
var benchGaps = [2]float64{1e-3, 1e-6}

// benchReport is what scqm bench prints.
type benchReport struct {
	Machine  machineReport    `json:"machine"`
	Cases    []*caseReport    `json:"cases"`
	Roofline *rooflineReport  `json:"roofline,omitempty"`
	Denoise  []*denoiseReport `json:"denoise,omitempty"`
}

type machineReport struct {
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Processors int    `json:"processors"`
	Threads    int    `json:"threads"`
}

// String describes the machine in a line.
func (m machineReport) String() string {
	return fmt.Sprintf("%s on %s, %d threads on %d processors", m.Go, m.Platform, m.Threads, m.Processors)
}

// caseReport compares solvers on one kind of fit. Where there are several sets
// of rows, work and time are medians.
type caseReport struct {
	Regime string        `json:"regime"`
	Title  string        `json:"title"`
	Loss   string        `json:"loss"`
	N      int           `json:"n"`
	D      int           `json:"D"`
	Latent int           `json:"d"`
	Ridge  float64       `json:"ridge"`
	Sets   int           `json:"sets"`
	Best   float64       `json:"best"` // lowest cost by any solver, mean over the sets
	PCA    floorReport   `json:"pca"`
	Fitter *fitterReport `json:"fitter,omitempty"`
	Runs   []*runReport  `json:"runs"`

	best []float64 // of each set
}

// runReport is one solver on one case. Costs are objectives with penalty.
type runReport struct {
	Solver       string         `json:"solver"`
	Note         string         `json:"note,omitempty"` // why it was left out
	Cost         *float64       `json:"cost"`           // mean over the sets
	Excess       *float64       `json:"excess"`         // over the best, relative; median over the sets
	Statuses     map[string]int `json:"statuses"`       // how many sets ended so
	Stationarity []float64      `json:"stationarity"`   // of c, Q, Theta, tau; the largest over the sets
	Iterations   float64        `json:"iterations"`
	Passes       float64        `json:"passes"`
	Seconds      float64        `json:"seconds"` // of whole fits
	Gaps         []gapReport    `json:"gaps"`    // from the best cost of any solver
	Own          []gapReport    `json:"own"`     // from the last cost of this solver

	outcomes []*outcome
}

// gapReport is the work up to a gap, nil where that was never reached. Factors
// say how much more the reference took; where the reference never got there,
// all of its work counts, which makes them lower bounds.
type gapReport struct {
	Gap           float64  `json:"gap"`
	Passes        *float64 `json:"passes"`
	Seconds       *float64 `json:"seconds"`
	PassesFactor  *float64 `json:"passes_factor"`
	SecondsFactor *float64 `json:"seconds_factor"`
	AtLeast       bool     `json:"at_least"`
}

func newCaseReport(c *benchCase) *caseReport {
	x := c.sets[0]
	loss := c.lossName
	if p, ok := c.losses[0].(framework.Parametric); ok && len(c.sets) == 1 {
		for _, key := range slices.Sorted(maps.Keys(p.Params())) {
			loss += fmt.Sprintf(" %s=%.3g", key, p.Params()[key])
		}
	}
	return &caseReport{
		Regime: c.name, Title: c.title, Loss: loss, N: x.N, D: x.D, Latent: benchLatent,
		Ridge: c.ridge, Sets: len(c.sets),
	}
}

// evaluate computes what only the end of all runs shows.
func (c *caseReport) evaluate() {
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
func (r *runReport) summarize(best []float64) {
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
	r.Excess = new(of(func(o *outcome, k int) float64 { return relativeGap(o.cost, best[k]) }))
	r.Iterations = of(func(o *outcome, _ int) float64 { return float64(o.iterations) })
	r.Passes = of(func(o *outcome, _ int) float64 { return o.passes })
	r.Seconds = of(func(o *outcome, _ int) float64 { return o.elapsed.Seconds() })
	for _, gap := range benchGaps {
		passes := func(o *outcome, goal float64) float64 { return o.reach(goal, gap).Passes }
		seconds := func(o *outcome, goal float64) float64 {
			if math.IsInf(passes(o, goal), 0) {
				return math.Inf(1)
			}
			return o.reach(goal, gap).Elapsed.Seconds()
		}
		r.Gaps = append(r.Gaps, gapReport{Gap: gap,
			Passes:  finite(of(func(o *outcome, k int) float64 { return passes(o, best[k]) })),
			Seconds: finite(of(func(o *outcome, k int) float64 { return seconds(o, best[k]) })),
		})
		r.Own = append(r.Own, gapReport{Gap: gap,
			Passes:  finite(of(func(o *outcome, _ int) float64 { return passes(o, o.cost) })),
			Seconds: finite(of(func(o *outcome, _ int) float64 { return seconds(o, o.cost) })),
		})
	}
}

// reach returns the first record of a run within a relative gap of a cost, one
// with infinitely many passes where there is none.
func (o *outcome) reach(goal, gap float64) framework.Record {
	for _, r := range o.history {
		if relativeGap(r.Cost, goal) <= gap {
			return r
		}
	}
	return framework.Record{Passes: math.Inf(1)}
}

func relativeGap(cost, goal float64) float64 {
	if cost == goal {
		return 0
	}
	return (cost - goal) / math.Abs(goal)
}

// relate computes the factors from the work of the reference.
func (g *gapReport) relate(other gapReport, whole *runReport) {
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

func (c *caseReport) print(w io.Writer) error {
	sets := ""
	if c.Sets > 1 {
		sets = fmt.Sprintf(", medians of %d sets", c.Sets)
	}
	head := fmt.Sprintf("\n%s: %s; loss %s; n = %d, D = %d, d = %d%s\n", c.Regime, c.Title, c.Loss, c.N, c.D, c.Latent, sets)
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	if err := printTable(w, c.rows()); err != nil {
		return err
	}
	for _, r := range c.Runs {
		if r.Note != "" {
			if _, err := fmt.Fprintf(w, "%s was left out: %s\n", r.Solver, r.Note); err != nil {
				return err
			}
		}
	}
	if c.Fitter == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "one goroutine with a Fitter: %.0f fits a second, %.1f iterations a fit, %.0f %% converged\n",
		c.Fitter.PerSecond, c.Fitter.Iterations, 100*c.Fitter.Converged)
	return err
}

func (c *caseReport) rows() [][]string {
	rows := [][]string{{
		"SOLVER", "OBJECTIVE", "EXCESS", "STATUS", "RESIDUAL", "PASSES", "SECONDS",
		"TO 1e-3: PASSES", "SECONDS", "RGD / THIS", "TO 1e-6: PASSES", "SECONDS", "RGD / THIS", "TO OWN 1e-6",
	}}
	for _, r := range c.Runs {
		if r.Note == "" {
			rows = append(rows, r.cells())
		}
	}
	return append(rows, []string{
		"(pca)", fmt.Sprintf("%.8g", c.PCA.Objective), fmt.Sprintf("%.1e", relativeGap(c.PCA.Objective, c.Best)),
		"", "", "", fmt.Sprintf("%.2g", c.PCA.Seconds),
	})
}

func (r *runReport) cells() []string {
	worst := 0.0
	for _, v := range r.Stationarity {
		worst = math.Max(worst, v)
	}
	cells := []string{
		r.Solver, fmt.Sprintf("%.8g", *r.Cost), fmt.Sprintf("%.1e", *r.Excess), r.status(),
		fmt.Sprintf("%.1e", worst), fmt.Sprintf("%.0f", r.Passes), fmt.Sprintf("%.3g", r.Seconds),
	}
	for _, g := range r.Gaps {
		cells = append(cells, g.cells()...)
	}
	return append(cells, number("%.0f", r.Own[1].Passes))
}

// cells are passes, seconds and the two factors.
func (g gapReport) cells() []string {
	factors := "-"
	if g.PassesFactor != nil && g.SecondsFactor != nil {
		factors = fmt.Sprintf("%.3g, %.3g", *g.PassesFactor, *g.SecondsFactor)
		if g.AtLeast {
			factors = "> " + factors
		}
	}
	return []string{number("%.0f", g.Passes), number("%.2g", g.Seconds), factors}
}

func number(format string, v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

// status names how runs ended, with counts where that differs.
func (r *runReport) status() string {
	if len(r.Statuses) == 1 {
		for name := range r.Statuses {
			return name
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(r.Statuses)) {
		list = append(list, fmt.Sprintf("%s %d", name, r.Statuses[name]))
	}
	return strings.Join(list, ", ")
}
