package main

import (
	"fmt"
	"io"
	"math"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/bench"
)

// benchReport is the JSON output of scqm bench.
type benchReport struct {
	Machine machineReport       `json:"machine"`
	Cases   []*bench.Comparison `json:"cases"`
}

type machineReport struct {
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Processors int    `json:"processors"`
	Threads    int    `json:"threads"`
}

// String describes the machine in one line of text.
func (m machineReport) String() string {
	return fmt.Sprintf("%s on %s, %d threads on %d processors", m.Go, m.Platform, m.Threads, m.Processors)
}

// printComparison prints a table with a line for every solver.
func printComparison(w io.Writer, c *bench.Comparison) error {
	head := fmt.Sprintf("\n%s: %s; loss %s; n = %d, D = %d, d = %d\n", c.Regime, c.Title, c.Loss, c.N, c.D, c.Latent)
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	if err := cli.PrintTable(w, comparisonRows(c)); err != nil {
		return err
	}
	for _, r := range c.Runs {
		if r.Note != "" {
			if _, err := fmt.Fprintf(w, "%s was left out: %s\n", r.Solver, r.Note); err != nil {
				return err
			}
		}
	}
	return nil
}

func comparisonRows(c *bench.Comparison) [][]string {
	rows := [][]string{{
		"SOLVER", "OBJECTIVE", "EXCESS", "STATUS", "RESIDUAL", "PASSES", "SECONDS",
		"TO 1e-3: PASSES", "SECONDS", "RGD / THIS", "TO 1e-6: PASSES", "SECONDS", "RGD / THIS", "TO OWN 1e-6",
	}}
	for _, r := range c.Runs {
		if r.Note == "" {
			rows = append(rows, runCells(r))
		}
	}
	return append(rows, []string{
		"(pca)", fmt.Sprintf("%.8g", c.PCA.Objective), fmt.Sprintf("%.1e", bench.RelativeGap(c.PCA.Objective, c.Best)),
		"", "", "", fmt.Sprintf("%.2g", c.PCA.Seconds),
	})
}

func runCells(r *bench.Run) []string {
	worst := 0.0
	for _, v := range r.Stationarity {
		worst = math.Max(worst, v)
	}
	cells := []string{
		r.Solver, fmt.Sprintf("%.8g", r.Cost), fmt.Sprintf("%.1e", r.Excess), r.Status,
		fmt.Sprintf("%.1e", worst), fmt.Sprintf("%.0f", r.Passes), fmt.Sprintf("%.3g", r.Seconds),
	}
	for _, g := range r.Gaps {
		cells = append(cells, gapCells(g)...)
	}
	return append(cells, number("%.0f", r.Own[1].Passes))
}

// gapCells returns the table cells for the passes, the seconds and the two factors of g.
func gapCells(g bench.Gap) []string {
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
