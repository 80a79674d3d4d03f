package bench

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteHistories writes a line for every iteration of every run, as CSV.
func WriteHistories(w io.Writer, comparisons []*Comparison) error {
	t := csv.NewWriter(w)
	lines := [][]string{{"regime", "loss", "n", "D", "set", "solver", "iteration", "passes", "seconds", "cost", "gap"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, c := range comparisons {
		for _, r := range c.Runs {
			for k := range c.Sets {
				records, best := c.History(r, k)
				for _, h := range records {
					lines = append(lines, []string{
						c.Regime, c.Loss, strconv.Itoa(c.N), strconv.Itoa(c.D), strconv.Itoa(k), r.Solver, strconv.Itoa(h.Iteration),
						number(h.Passes), number(h.Elapsed.Seconds()), number(h.Cost), number(RelativeGap(h.Cost, best)),
					})
				}
			}
		}
	}
	return t.WriteAll(lines)
}
